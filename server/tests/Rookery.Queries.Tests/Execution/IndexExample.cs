using System.Buffers;
using System.Text;
using Rookery.Documents.Ids;
using Rookery.Documents.Stored;
using Rookery.Fixtures;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Queries.Conditions;
using Rookery.Queries.Execution;
using Rookery.Queries.FullText;
using Rookery.Queries.Language;
using Rookery.Queries.Scanning;
using Rookery.Queries.Tests.Scanning;
using Rookery.Search.Segments.Store;
using Rookery.Simulation;

namespace Rookery.Queries.Tests.Execution;

/// <summary>Changing documents and an index of them. Answers queries by the index and by a scan.</summary>
internal sealed class IndexExample : IDisposable
{
    private const string Folder = "/data/index";
    private const long PlentyBytes = 256 * 1024 * 1024;

    private static readonly byte[] History = Encoding.UTF8.GetBytes(StoredExample.HistoryId);

    private readonly QueryMemory _memory = new(new MemoryBudget(PlentyBytes).AddShare("queries", PlentyBytes));
    private readonly Dictionary<string, (long Etag, byte[] Stored)> _documents = new(StringComparer.OrdinalIgnoreCase);
    private readonly Dictionary<string, long> _deleted = new(StringComparer.OrdinalIgnoreCase);
    private readonly IndexEntry _entry = new();
    private readonly AutoIndexMap _map;
    private SimulatedDisk _disk = new("/data", Folder);
    private SegmentStore _store;
    private long _lastEtag;
    private ScanExample? _scanned;

    public IndexExample(AutoIndexDefinition definition)
    {
        _map = new AutoIndexMap(definition);
        _store = SegmentStore.Open(StoreContents.ContextOf(_disk), Folder);
    }

    /// <summary>Bytes that the open answers hold.</summary>
    public long HeldBytes => _memory.HeldBytes;

    /// <summary>Ids of all documents.</summary>
    public IReadOnlyCollection<string> Ids => _documents.Keys;

    /// <summary>The numbers of the indexed fields.</summary>
    public IndexedFields Fields => new(_map.Fields);

    /// <summary>Current number of segments of the index.</summary>
    public int Segments
    {
        get
        {
            using var snapshot = OpenSnapshot();
            return snapshot.Segments.Count;
        }
    }

    public IndexSnapshot OpenSnapshot() => _store.OpenSnapshot();

    public void Put(string id, string body)
    {
        _documents[id] = (++_lastEtag, StoredExample.Store(id, body));
        _deleted.Remove(id);
        _scanned = null;
        Feed(id);
    }

    public void Delete(string id)
    {
        _documents.Remove(id);
        _deleted[id] = ++_lastEtag;
        _scanned = null;
        _store.Delete(Lower(id));
    }

    /// <summary>Applies the changes to the index.</summary>
    public void Apply() => _store.Apply(_lastEtag);

    /// <summary>Merges until nothing is left to merge.</summary>
    public void Merge()
    {
        while (_store.MergeOnce())
        {
            // MergeOnce does one step.
        }
    }

    /// <summary>Reopens the index after a power cut, and indexes from its watermark.</summary>
    public void Restart(long powerLossSeed)
    {
        _disk = _disk.AfterPowerLoss(powerLossSeed);
        _store.Dispose();
        _store = SegmentStore.Open(StoreContents.ContextOf(_disk), Folder);
        foreach (var (id, _) in _documents.Where(document => document.Value.Etag > _store.Watermark))
        {
            Feed(id);
        }

        foreach (var (id, _) in _deleted.Where(one => one.Value > _store.Watermark))
        {
            _store.Delete(Lower(id));
        }

        Apply();
    }

    /// <summary>Opens the index's answer.</summary>
    public IndexAnswer Open(
        CompiledQuery compiled,
        IWorkLimits? clock = null,
        bool needsTotal = true,
        OrderWalk? walk = null
    ) =>
        IndexAnswer.Find(
            OpenSnapshot(),
            Fields,
            compiled,
            _memory,
            clock ?? new PatientClock(),
            needsTotal,
            walk: walk
        );

    public QueriedDocument Document(string id) =>
        new(new DocumentView(_documents[id].Stored), _documents[id].Etag, History);

    /// <summary>Returns the answer of a scan, which first counts words and then evaluates.</summary>
    public (IReadOnlyList<string> Results, long Total) Scan(Query query)
    {
        if (_scanned is null)
        {
            _scanned = new ScanExample();
            foreach (var (id, (_, stored)) in _documents.OrderBy(static document => document.Value.Etag))
            {
                _scanned.Add(id, stored);
            }
        }

        using var words = new FullTextConditions(static _ => IndexedQueries.Analyzer);
        var compiled = CompiledQuery.Compile(query, QueryParameters.None, words);
        _scanned.Count(words);
        return _scanned.Ask(compiled);
    }

    /// <summary>
    /// Returns the index's answer, and whether the index gave only candidates, whose documents were evaluated.
    /// </summary>
    public (IReadOnlyList<string> Results, long Total, bool EvaluatedDocuments) Ask(
        Query query,
        bool needsTotal = true,
        OrderWalk? walk = null
    )
    {
        using var words = new FullTextConditions(static _ => IndexedQueries.Analyzer);
        var compiled = CompiledQuery.Compile(query, QueryParameters.None, words);
        var results = new List<string>();
        long total;
        bool evaluated;
        using (var answer = Open(compiled, needsTotal: needsTotal, walk: walk))
        {
            evaluated = answer.AreCandidates;
            total = evaluated ? ScanCandidates(answer, compiled, results) : answer.TotalResults!.Value;
            if (!evaluated)
            {
                results.AddRange(
                    answer.Documents.Select(document =>
                        WriteResult(compiled, Encoding.UTF8.GetString(document.Id.Span))
                    )
                );
            }
        }

        Assert.Equal(0, _memory.HeldBytes);
        if (!evaluated && compiled.Limit is not null)
        {
            AssertPageContinues(compiled, needsTotal, walk);
            AssertPageContinues(compiled, needsTotal, walk, maxSearchedAgain: 1);
        }

        return (results, total, evaluated);
    }

    public void Dispose() => _store.Dispose();

    /// <summary>Gives the document to the index, which buffers its entry until <see cref="Apply"/>.</summary>
    private void Feed(string id)
    {
        _entry.Clear();
        _map.Map(Document(id), _entry);
        _store.Put(Lower(id), _documents[id].Etag, _entry);
    }

    /// <summary>Asserts that a page is continued by the results that the query has without a limit.</summary>
    private void AssertPageContinues(
        CompiledQuery compiled,
        bool needsTotal,
        OrderWalk? walk,
        int? maxSearchedAgain = null
    )
    {
        using var whole = Open(compiled.WithLimit(long.MaxValue));
        using var answer = Open(compiled, needsTotal: needsTotal, walk: walk);
        answer.MaxSearchedAgain = maxSearchedAgain ?? answer.MaxSearchedAgain;
        List<string> ids;
        try
        {
            ids = ReadToEnd(answer);
        }
        catch (QueryException refused)
        {
            Assert.Equal(QueryFault.IndexUnavailable, refused.Fault);
            Assert.True(whole.AreCandidates);
            return;
        }

        if (!whole.AreCandidates)
        {
            Assert.Equal(whole.Documents.Select(static document => Encoding.UTF8.GetString(document.Id.Span)), ids);
        }

        answer.Rewind();
        Assert.Equal(ids, ReadToEnd(answer));
    }

    private static List<string> ReadToEnd(IndexAnswer answer)
    {
        var ids = new List<string>();
        do
        {
            for (int place = ids.Count; place < answer.Documents.Count; place++)
            {
                ids.Add(Encoding.UTF8.GetString(answer.Documents[place].Id.Span));
            }
        } while (answer.FindMore());

        return ids;
    }

    private long ScanCandidates(IndexAnswer answer, CompiledQuery compiled, List<string> results)
    {
        using var run = compiled.Start(_memory, new PatientClock());
        foreach (var candidate in answer.Documents)
        {
            string id = Encoding.UTF8.GetString(candidate.Id.Span);
            if (run.Add(Document(id)))
            {
                results.Add(WriteResult(compiled, id));
            }
        }

        var end = run.Finish();
        results.AddRange(
            end.Documents.Select(document => WriteResult(compiled, Encoding.UTF8.GetString(document.Id.Span)))
        );
        return end.TotalResults;
    }

    private string WriteResult(CompiledQuery compiled, string id)
    {
        var document = Document(id);
        if (compiled.ReturnsDocuments)
        {
            return Encoding.UTF8.GetString(document.View.Id);
        }

        var output = new ArrayBufferWriter<byte>();
        compiled.WriteMembers(document, output);
        return $"{{{output.Text()}}}";
    }

    private static byte[] Lower(string id)
    {
        byte[] lower = new byte[DocumentId.MaxBytes];
        return lower[..DocumentId.ToLower(Encoding.UTF8.GetBytes(id), lower)];
    }

    private sealed class PatientClock : IWorkLimits
    {
        public void CheckLimits() { }
    }
}
