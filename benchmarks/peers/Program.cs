// Runs Rookery's engine and engines of other projects in this process, without HTTP. Each command prints lines with a
// name and a number.
using Rookery.Peers;

switch (args)
{
    case ["store", var subject, var directory, var batch, var seconds]:
        StoreMeasure.Run(subject, directory, int.Parse(batch), double.Parse(seconds));
        return 0;
    case ["lucene-build", var documents, var field, var directory]:
        LuceneIndex.Build(documents, field, directory);
        return 0;
    case ["lucene-search", var directory, var field, var bodies, var seconds]:
        using (var index = new LuceneIndex(directory, field))
        {
            QueryLoop.Run(index, bodies, double.Parse(seconds));
        }

        return 0;
    case ["rookery-query", var directory, var database, var bodies, var seconds]:
        using (var engine = new RookeryQueries(directory, database))
        {
            QueryLoop.Run(engine, bodies, double.Parse(seconds));
        }

        return 0;
    case ["sqlite-query", var file, var statement, var bodies, var seconds]:
        using (var statements = new SqliteStatements(file, statement))
        {
            QueryLoop.Run(statements, bodies, double.Parse(seconds));
        }

        return 0;
    default:
        Console.Error.WriteLine(
            """
            rookery-peers store rookery|rocksdb|lmdb DIRECTORY BATCH SECONDS
                puts documents of 150 bytes in random order of their keys, BATCH for each sync, then gets random ones
            rookery-peers lucene-build TSV FIELD DIRECTORY
                indexes the words of a field of the documents of a file of TSV, and stores the documents
            rookery-peers lucene-search DIRECTORY FIELD BODIES SECONDS
            rookery-peers rookery-query DIRECTORY DATABASE BODIES SECONDS
            rookery-peers sqlite-query FILE STATEMENT BODIES SECONDS
                answers queries, given as bodies of /queries whose parameter p is a text, on one thread for each core:
                Lucene.Net all words of p and the top ten by BM25, SQLite STATEMENT with the parameter $p
            """
        );
        return 64;
}
