using System.Buffers;
using System.Text;
using Rookery.Documents.Stored;
using Rookery.Fixtures;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Search.Analysis;

namespace Rookery.Queries.Tests.Scanning;

/// <summary>A few documents, and the answers to queries over them.</summary>
internal sealed class ScanExample
{
    private const long PlentyBytes = 64 * 1024 * 1024;

    private static readonly byte[] History = Encoding.UTF8.GetBytes(StoredExample.HistoryId);

    private readonly List<(string Id, byte[] Stored)> _documents = [];

    public ScanExample(params IEnumerable<string> bodies)
    {
        foreach (string body in bodies)
        {
            Add($"users/{_documents.Count + 1}", body);
        }
    }

    public MemoryBudget Budget { get; init; } = new(PlentyBytes);

    public ScanExample Add(string id, string body) => Add(id, StoredExample.Store(id, body));

    public ScanExample Add(string id, byte[] stored)
    {
        _documents.Add((id, stored));
        return this;
    }

    /// <summary>
    /// Returns the numbers of the documents that match a condition, from 1, in the order of the answer.
    /// </summary>
    public string Where(string condition, string parameters = "{}") =>
        Numbers($"from Users where {condition}", parameters);

    /// <summary>
    /// Returns the numbers of the documents that match a full-text condition, in the order of the documents.
    /// </summary>
    public string WhereWords(string condition, string parameters = "{}")
    {
        using var words = new FullTextConditions(static _ => AnalyzerCatalog.Default);
        var plan = CompiledQuery.Compile(
            RqlParser.Parse($"from Users where {condition} order by id()"),
            QueryParameters.Read(Encoding.UTF8.GetBytes(parameters)),
            words
        );
        return string.Join(
            ' ',
            Ask(plan).Results.Select(static id => id[(id.IndexOf('/', StringComparison.Ordinal) + 1)..])
        );
    }

    /// <summary>Returns the numbers of the documents that a query returns.</summary>
    public string Numbers(string query, string parameters = "{}") =>
        string.Join(
            ' ',
            Ask(query, parameters).Results.Select(static id => id[(id.IndexOf('/', StringComparison.Ordinal) + 1)..])
        );

    /// <summary>Returns the rows of a query with a projection, each as JSON.</summary>
    public string Rows(string query, string parameters = "{}") => string.Join(' ', Ask(query, parameters).Results);

    /// <summary>Counts all documents for the word statistics.</summary>
    public void Count(FullTextConditions words)
    {
        for (int index = 0; index < _documents.Count; index++)
        {
            words.CountWords(Document(index), new PatientClock());
        }
    }

    public (IReadOnlyList<string> Results, long Total) Ask(string query, string parameters = "{}") =>
        Ask(CompiledQuery.Compile(RqlParser.Parse(query), QueryParameters.Read(Encoding.UTF8.GetBytes(parameters))));

    public (IReadOnlyList<string> Results, long Total) Ask(
        CompiledQuery plan,
        IWorkLimits? clock = null,
        bool needsTotal = true
    )
    {
        MemoryShare share = Budget.AddShare("queries", Budget.TotalBytes);
        var results = new List<string>();
        long total;
        using (ScanRun run = plan.Start(new QueryMemory(share), clock ?? new PatientClock(), needsTotal))
        {
            for (int index = 0; index < _documents.Count && !run.IsComplete; index++)
            {
                if (run.Add(Document(index)))
                {
                    results.Add(WriteResult(plan, index));
                }
            }

            ScanResults end = run.Finish();
            results.AddRange(end.Documents.Select(document => WriteResult(plan, (int)document.Etag - 1)));
            for (int group = 0; group < end.GroupCount; group++)
            {
                var output = new ArrayBufferWriter<byte>();
                end.WriteMembers(group, output);
                results.Add($"{{{output.Text()}}}");
            }

            total = end.TotalResults;
        }

        Assert.Equal(0, share.UsedBytes); // a query that ended holds no memory
        return (results, total);
    }

    private QueriedDocument Document(int index) => new(new DocumentView(_documents[index].Stored), index + 1, History);

    /// <summary>Returns a result as the answer has it: its id, or its members as JSON.</summary>
    private string WriteResult(CompiledQuery plan, int index)
    {
        if (plan.ReturnsDocuments)
        {
            return _documents[index].Id;
        }

        var output = new ArrayBufferWriter<byte>();
        plan.WriteMembers(Document(index), output);
        return $"{{{output.Text()}}}";
    }

    private sealed class PatientClock : IWorkLimits
    {
        public void CheckLimits() { }
    }
}
