using System.Text;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Documents.Schedules;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Mapping;
using Rookery.Indexing.Values;
using Rookery.Queries.Conditions;
using Rookery.Scripting.Running;
using Rookery.Search.Segments.Store;

namespace Rookery.Queries.Execution;

/// <summary>
/// Computes a static index's rows from the current documents, for conditions that the index's terms do not decide. Not
/// thread-safe.
/// </summary>
public sealed class IndexRows : IMappedRows, IScriptDocuments, IDisposable
{
    private readonly MapRunner _maps;
    private readonly Func<DatabaseReader> _reader;
    private readonly byte[] _historyId;
    private readonly MissingFields _missing;
    private readonly List<byte[]> _rows = [];

    /// <summary>Creates a mapper for an index.</summary>
    /// <param name="source">The index.</param>
    /// <param name="database">The database.</param>
    /// <param name="reader">Returns the answer's snapshot, from which maps load counters and further documents. Not
    /// disposed by this object.</param>
    public IndexRows(RowSource source, Database database, Func<DatabaseReader> reader)
    {
        _reader = reader;
        _historyId = Encoding.ASCII.GetBytes(database.HistoryId);
        _maps = new MapRunner(source.Definition.CompiledMaps, this);
        _missing = new MissingFields(
            source.Definition.Configuration,
            source.Definition.Fields.Select(static field => field.Name)
        );
    }

    /// <summary>
    /// Returns the members of a document's rows, without braces, valid until the next call. Returns no rows if a map
    /// fails for the document, or if the document is archived: indexes leave archived documents out.
    /// </summary>
    /// <param name="document">The document.</param>
    public IReadOnlyList<byte[]> Of(in QueriedDocument document)
    {
        _rows.Clear();
        if (ScheduledTimes.IsArchived(document.View.Metadata))
        {
            return _rows;
        }

        try
        {
            _maps.Run(document.Whole, _reader(), this);
        }
        catch (IndexEntryException)
        {
            _rows.Clear(); // the error appears among the errors of the index
        }

        return _rows;
    }

    /// <inheritdoc/>
    void IMappedRows.Add(ReadOnlySpan<byte> row) => _rows.Add(_missing.Complete(row)[1..^1].ToArray());

    /// <inheritdoc/>
    void IScriptDocuments.Load(ReadOnlySpan<byte> id, ScriptDocumentReceiver receiver)
    {
        if (!DocumentId.TryValidate(id, out _) || !_reader().TryGetDocument(id, out var document))
        {
            return;
        }

        using (document)
        {
            Span<byte> vector = stackalloc byte[ChangeVector.MaxBytes];
            receiver(document.View.ToScript(vector[..ChangeVector.Write(vector, document.Etag, _historyId)]));
        }
    }

    /// <inheritdoc/>
    public void Dispose() => _maps.Dispose();
}
