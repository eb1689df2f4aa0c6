using System.Buffers;
using System.Text;
using Rookery.Disk;
using Rookery.Documents.Ids;
using Rookery.Documents.Json;
using Rookery.Indexing.Analysis;
using Rookery.Indexing.Execution;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Language;
using Rookery.Indexing.Scanning;
using Rookery.Indexing.Segments;
using Rookery.Indexing.Tests.Scanning;
using Rookery.Indexing.Tests.Segments;
using Rookery.Indexing.Tests.Values;
using Rookery.Indexing.Values;
using Rookery.Simulation;

namespace Rookery.Indexing.Tests.Execution;

/// <summary>Documents that change, an index of them, and the answers of both to one query.</summary>
internal sealed class IndexExample : IDisposable
{
    private const string Folder = "/data/index";
    private const long PlentyBytes = 256 * 1024 * 1024;

    private static readonly byte[] History = Encoding.UTF8.GetBytes(StoredExample.HistoryId);

    private readonly MemoryShare share = new MemoryBudget(PlentyBytes).AddShare("queries", PlentyBytes);
    private readonly Dictionary<string, (long Etag, byte[] Stored)> documents = new(StringComparer.OrdinalIgnoreCase);
    private readonly Dictionary<string, long> deleted = new(StringComparer.OrdinalIgnoreCase);
    private readonly IndexEntry entry = new();
    private readonly AutoIndexMap map;
    private SimulatedDisk disk = new("/data", Folder);
    private SegmentStore store;
    private long lastEtag;
    private ScanExample? scanned;

    public IndexExample(AutoIndexDefinition definition)
    {
        map = new AutoIndexMap(definition);
        store = SegmentStore.Open(StoreContents.ContextOf(disk), Folder);
    }

    /// <summary>Ids of all documents.</summary>
    public IReadOnlyCollection<string> Ids => documents.Keys;

    /// <summary>What the index holds of which field.</summary>
    public IndexedFields Fields => new(map.Fields);

    /// <summary>Of how many segments the index is now.</summary>
    public int Segments
    {
        get
        {
            using var snapshot = OpenSnapshot();
            return snapshot.Segments.Count;
        }
    }

    public IndexSnapshot OpenSnapshot() => store.OpenSnapshot();

    public void Put(string id, string body)
    {
        documents[id] = (++lastEtag, StoredExample.Store(id, body));
        deleted.Remove(id);
        scanned = null;
        Feed(id);
    }

    public void Delete(string id)
    {
        documents.Remove(id);
        deleted[id] = ++lastEtag;
        scanned = null;
        store.Delete(Lower(id));
    }

    /// <summary>Lets the index show what changed.</summary>
    public void Apply() => store.Apply(lastEtag);

    /// <summary>Merges as far as there is something to merge.</summary>
    public void Merge()
    {
        while (store.MergeOnce())
        {
            // A piece.
        }
    }

    /// <summary>Starts again on what a power cut left, and follows from there.</summary>
    public void Restart(long powerLossSeed)
    {
        disk = disk.AfterPowerLoss(powerLossSeed);
        store.Dispose();
        store = SegmentStore.Open(StoreContents.ContextOf(disk), Folder);
        foreach (var (id, _) in documents.Where(document => document.Value.Etag > store.Watermark))
        {
            Feed(id);
        }

        foreach (var (id, _) in deleted.Where(one => one.Value > store.Watermark))
        {
            store.Delete(Lower(id));
        }

        Apply();
    }

    /// <summary>Opens an answer of the index.</summary>
    public IndexAnswer Open(ScanPlan plan, IScanClock? clock = null, bool needsTotal = true, OrderWalk? walk = null) =>
        IndexAnswer.Find(OpenSnapshot(), Fields, plan, share, clock ?? new PatientClock(), needsTotal, walk: walk);

    public QueriedDocument Document(string id) => new(new DocumentView(documents[id].Stored), documents[id].Etag, History);

    /// <summary>What looking at every document answers: twice, first to count words.</summary>
    public (IReadOnlyList<string> Results, long Total) Scan(Query query)
    {
        if (scanned is null)
        {
            scanned = new ScanExample();
            foreach (var (id, (_, stored)) in documents.OrderBy(static document => document.Value.Etag))
            {
                scanned.Add(id, stored);
            }
        }

        using var words = new FullTextConditions(static _ => IndexedQueries.Analyzer);
        var plan = ScanPlan.Compile(query, QueryParameters.None, words);
        scanned.Count(words);
        return scanned.Ask(plan);
    }

    /// <summary>What the index answers.</summary>
    public (IReadOnlyList<string> Results, long Total, bool LookedAtDocuments) Ask(Query query, bool needsTotal = true, OrderWalk? walk = null)
    {
        using var words = new FullTextConditions(static _ => IndexedQueries.Analyzer);
        var plan = ScanPlan.Compile(query, QueryParameters.None, words);
        var results = new List<string>();
        long total;
        bool looked;
        using (var answer = Open(plan, needsTotal: needsTotal, walk: walk))
        {
            looked = answer.AreCandidates;
            total = looked ? ScanCandidates(answer, plan, results) : answer.TotalResults!.Value;
            if (!looked)
            {
                results.AddRange(answer.Documents.Select(found => Written(plan, Encoding.UTF8.GetString(found.Id.Span))));
            }
        }

        Assert.Equal(0, share.UsedBytes);
        return (results, total, looked);
    }

    public void Dispose() => store.Dispose();

    private void Feed(string id)
    {
        entry.Clear();
        map.Map(Document(id), entry);
        store.Put(Lower(id), documents[id].Etag, entry);
    }

    private long ScanCandidates(IndexAnswer answer, ScanPlan plan, List<string> results)
    {
        using var run = plan.Start(share, new PatientClock());
        foreach (var candidate in answer.Documents)
        {
            string id = Encoding.UTF8.GetString(candidate.Id.Span);
            if (run.Add(Document(id)))
            {
                results.Add(Written(plan, id));
            }
        }

        var end = run.Finish();
        results.AddRange(end.Documents.Select(found => Written(plan, Encoding.UTF8.GetString(found.Id.Span))));
        return end.TotalResults;
    }

    private string Written(ScanPlan plan, string id)
    {
        var document = Document(id);
        if (plan.GivesDocuments)
        {
            return Encoding.UTF8.GetString(document.View.Id);
        }

        var output = new ArrayBufferWriter<byte>();
        plan.WriteMembers(document, output);
        return $"{{{output.Text()}}}";
    }

    private static byte[] Lower(string id)
    {
        byte[] lower = new byte[DocumentId.MaxBytes];
        return lower[..DocumentId.ToLower(Encoding.UTF8.GetBytes(id), lower)];
    }

    private sealed class PatientClock : IScanClock
    {
        public void OnWork()
        {
        }
    }
}
