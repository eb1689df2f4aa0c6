using System.Text;
using System.Text.Json;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Indexing.Automatic;
using Rookery.Indexing.Definitions;
using Rookery.Indexing.Indexes;
using Rookery.Indexing.Values;
using Rookery.Platform;
using Rookery.Search.Segments.Store;
using Rookery.Simulation;

namespace Rookery.Fixtures;

/// <summary>A node with indexes, without consensus and threads. Each call has done its work when it returns.</summary>
public sealed class IndexedNode : IDisposable
{
    public const string Directory = "/data/node";

    private readonly SegmentStoreContext _context;

    /// <summary>Opens a node on a disk, and applies its log.</summary>
    /// <param name="disk">Holds the files of the node.</param>
    /// <param name="time">The clock of the node.</param>
    /// <param name="options">Options of indexing.</param>
    /// <param name="shareOfCore">Part of a processor core that indexing may use, up to 1.</param>
    /// <param name="cacheBytes">Size of the cache of pages of segments.</param>
    /// <param name="wrapStore">Wraps the store of each index; null for none.</param>
    /// <param name="unapplied">Number of entries at the journal's end that are not applied.</param>
    private IndexedNode(
        SimulatedDisk disk,
        SimulatedTimeProvider time,
        IndexFeederOptions options,
        double shareOfCore = 1,
        long cacheBytes = 1 << 20,
        Func<IIndexStore, IIndexStore>? wrapStore = null,
        int unapplied = 0
    )
    {
        (Disk, Time) = (disk, time);
        var nodeOptions = new NodeOptions
        {
            DataDirectory = Directory,
            SegmentBytes = 64 << 10,
            MemtableBytes = 48 << 10,
            RunBytes = 32 << 10,
            Reserve = new ReserveRule(Bytes: 0, Fraction: 0),
        };
        Store = NodeStore.Open(nodeOptions, disk, new MemoryBudget(16 << 20), NoRecorder.Instance, time);
        ApplyThrough(Store.Journal.LastIndex - unapplied);
        _context = StoreContents.ContextOf(disk, cacheBytes);
        var hostOptions = new IndexHostOptions
        {
            DataDirectory = Directory,
            ShareOfCore = () => shareOfCore,
            HasRoom = () => HasRoom,
            HasReapplied = Store.HasReapplied,
            TroubleFound = Troubles.Add,
            Memory = Memory,
            Io = NoRecorder.Instance,
            Feeder = options,
        };
        wrapStore ??= static store => store;
        Host = new IndexHost(
            Store.Databases,
            disk,
            hostOptions,
            time,
            folder => wrapStore(SegmentStore.Open(_context, folder))
        );
    }

    public static IndexFeederOptions SmallSteps { get; } =
        new()
        {
            DocumentsPerStep = 7,
            BytesPerStep = 600,
            PendingBytes = 64 << 10,
            MinPendingBytes = 2 << 10,
        };

    public SimulatedDisk Disk { get; }

    public SimulatedTimeProvider Time { get; }

    public NodeStore Store { get; }

    /// <summary>The memory budget of the indexes, except for their segments.</summary>
    public MemoryBudget Memory { get; } = new(16 << 20);

    public IndexHost Host { get; }

    public IList<string> Troubles { get; } = [];

    public bool HasRoom { get; set; } = true;

    /// <summary>Creates a node with an empty database, shop. See the constructor for the parameters.</summary>
    public static IndexedNode New(
        IndexFeederOptions? options = null,
        double shareOfCore = 1,
        long cacheBytes = 1 << 20,
        Func<IIndexStore, IIndexStore>? wrapStore = null
    )
    {
        var disk = new SimulatedDisk("/data");
        var time = new SimulatedTimeProvider();
        var node = new IndexedNode(disk, time, options ?? SmallSteps, shareOfCore, cacheBytes, wrapStore);
        node.CreateDatabase("shop");
        return node;
    }

    /// <summary>Opens a node on a disk image.</summary>
    public static IndexedNode Open(SimulatedDisk disk) => new(disk, new SimulatedTimeProvider(), SmallSteps);

    /// <summary>Restarts the node; with a seed, on what a power cut left of its disk.</summary>
    /// <param name="powerLossSeed">The seed; null for no power cut.</param>
    /// <param name="options">The bounds of a step.</param>
    /// <param name="unapplied">Number of entries at the journal's end that are not applied, because the node does not
    /// know that they are committed.</param>
    public IndexedNode Restart(long? powerLossSeed = null, IndexFeederOptions? options = null, int unapplied = 0)
    {
        var disk = powerLossSeed is { } seed ? Disk.AfterPowerLoss(seed) : Disk;
        Dispose();
        return new IndexedNode(disk, Time, options ?? SmallSteps, unapplied: unapplied);
    }

    /// <summary>Applies the entries of the journal through an index.</summary>
    public void ApplyThrough(long index)
    {
        using var reader = Store.Journal.Read(Store.AppliedIndex + 1);
        while (reader.Next(out var frame) && frame.Index <= index)
        {
            Replay.Apply(frame, Store.Applier);
        }
    }

    public void CreateDatabase(string name) => Run(CommandEncoder.CreateDatabase(name, HistoryId.Create()));

    public Database Database(string name = "shop") =>
        Store.Databases.TryGet(name, out var database) ? database : throw new InvalidOperationException(name);

    /// <summary>Defines a static index.</summary>
    /// <param name="definition">The JSON that a client sends. It may omit the name.</param>
    /// <param name="name">The name of the index, also if the definition contains another.</param>
    public void Define(string definition, string name)
    {
        // The parser requires a name in the JSON, and the command names the index.
        bool hasName = definition.Contains("\"Name\"", StringComparison.Ordinal);
        using var json = JsonDocument.Parse(hasName ? definition : definition.Insert(1, "\"Name\":\"x\","));
        ChangeIndexes(writer =>
            writer.Put(name, StaticIndexRequest.Parse(json.RootElement).Definition.ToJson(), default)
        );
    }

    /// <summary>Defines a static index of users with the one field n.</summary>
    /// <param name="name">The name of the index.</param>
    /// <param name="value">JavaScript that computes n from the document <c>o</c>, for instance <c>o.age</c>.</param>
    /// <param name="database">The name of the database.</param>
    public void DefineField(string name, string value, string database = "shop")
    {
        using var json = JsonDocument.Parse(
            $$"""{"Maps":["map('Users', o => ({ n: {{value}} }))"],"Name":"{{name}}"}"""
        );
        byte[] definition = StaticIndexRequest.Parse(json.RootElement).Definition.ToJson();
        ChangeIndexes(writer => writer.Put(name, definition, default), database);
    }

    /// <summary>Stores a document.</summary>
    /// <param name="id">Its id.</param>
    /// <param name="members">Its members as JSON, without braces.</param>
    /// <param name="collection">Its collection.</param>
    /// <param name="database">The name of the database.</param>
    /// <param name="metadata">Further members of its metadata as JSON, each after a comma.</param>
    public void Put(
        string id,
        string members,
        string collection = "Users",
        string database = "shop",
        string metadata = ""
    )
    {
        using var parser = DocumentParser.Rent();
        string separator = members.Length > 0 ? "," : "";
        string json = $"{{{members}{separator}\"@metadata\":{{\"@collection\":\"{collection}\"{metadata}}}}}";
        Assert.True(parser.TryParse(Encoding.UTF8.GetBytes(json), out var document, out var error), error.ToString());
        Run(
            CommandEncoder.Put(
                Database(database).Number,
                Encoding.UTF8.GetBytes(id),
                ExpectedChangeVector.None,
                document,
                default
            )
        );
    }

    /// <summary>Changes counters of a document in one request; its operations may be "Increment" and
    /// "Delete".</summary>
    public void Count(string id, params (string Type, string Name, long Delta)[] operations)
    {
        string list = string.Join(
            ',',
            operations.Select(static operation =>
                $$"""{"Type":"{{operation.Type}}","CounterName":"{{operation.Name}}","Delta":{{operation.Delta}}}"""
            )
        );
        bool isParsed = CounterBatchParser.TryParse(
            Encoding.UTF8.GetBytes($$"""{"Documents":[{"DocumentId":"{{id}}","Operations":[{{list}}]}]}"""),
            Database().Number,
            key: default,
            maxBatchBytes: 1 << 20,
            FormatLevel.Newest,
            out var batch,
            out _,
            out var error
        );
        Assert.True(isParsed, error.ToString());
        Run(batch.Command);
    }

    /// <summary>Stores and deletes documents in one transaction.</summary>
    /// <param name="changes">The id of each document, its members (null to delete it) and its collection.</param>
    public void Transact(params (string Id, string? Members, string Collection)[] changes)
    {
        using var writer = new BatchWriter(CommandKind.Batch, Database().Number);
        foreach (var (id, members, collection) in changes)
        {
            if (members is null)
            {
                writer.Delete(Encoding.UTF8.GetBytes(id), default);
                continue;
            }

            using var parser = DocumentParser.Rent();
            byte[] json = Encoding.UTF8.GetBytes($"{{{members},\"@metadata\":{{\"@collection\":\"{collection}\"}}}}");
            Assert.True(parser.TryParse(json, out var document, out var error), error.ToString());
            writer.Put(Encoding.UTF8.GetBytes(id), ExpectedChangeVector.None, document);
        }

        Run(writer.Complete());
    }

    public void Delete(string id, string database = "shop") =>
        Run(CommandEncoder.Delete(Database(database).Number, Encoding.UTF8.GetBytes(id), default, default));

    /// <summary>Defines an automatic index, and returns the number of its definition.</summary>
    public long Define(string name, AutoIndexDefinition definition, string database = "shop")
    {
        var outcome = ChangeIndexes(writer => writer.Put(name, definition.ToJson(), default), database);
        return outcome[0].Low;
    }

    public CommandOutcome ChangeIndexes(Action<IndexWriter> encode, string database = "shop")
    {
        using var writer = new IndexWriter(Database(database).Number, default);
        encode(writer);
        return Run(writer.Complete());
    }

    public CommandOutcome Run(CommandBuffer command)
    {
        var outcome = Store.CommitAlone(command);
        command.Dispose();
        Assert.Null(outcome.Rejection);
        return outcome;
    }

    /// <summary>
    /// Sets the database's last etag. In a real node it lags behind: readers see an applied entry before this etag
    /// includes it.
    /// </summary>
    public void SetLastEtag(long etag) => (Database().LastEtag, Database().LastEtagForIndexes) = (etag, etag);

    /// <summary>Lets documents expire by the clock of the node. Before, none expires.</summary>
    public void StartExpiry() =>
        Store.Databases.Clock.Start(() => new ClusterTime(Time.GetUtcNow().UtcTicks, IsSure: true));

    /// <summary>Does one step of the index thread.</summary>
    public bool Step() => Host.Step();

    /// <summary>Applies new definitions from the log, without reading documents.</summary>
    public bool Follow() => Host.Follow();

    /// <summary>Steps until there is no more work now.</summary>
    public int Settle()
    {
        int steps = 0;
        while (Host.Step())
        {
            Assert.True(++steps < 100_000, "indexing comes to an end");
        }

        return steps;
    }

    /// <summary>Steps until everything is written.</summary>
    public void SettleAll()
    {
        Settle();
        Time.Advance(SmallSteps.PendingAge);
        Settle();
    }

    public IndexStatus Status(string name, string database = "shop") =>
        Host.ReadStatus(Database(database))
            .Single(status => status.Name.Equals(name, StringComparison.OrdinalIgnoreCase) && !status.IsReplacement);

    public RunningIndex Serving(string name, string database = "shop") =>
        Host.TryGetSlot(Database(database), name, out var slot)
            ? slot.Serving
            : throw new InvalidOperationException(name);

    public IIndexStore StoreOf(string name, string database = "shop") => Serving(name, database).Store;

    /// <summary>Returns the stored rows of an index, as queries see it, ordered by their bytes.</summary>
    public IReadOnlyList<string> ReadRows(string name)
    {
        using var snapshot = Serving(name).OpenSnapshot();
        var rows = new List<string>();
        foreach (var (reader, live) in snapshot.Segments)
        {
            using var stored = reader.Stored();
            foreach (int entry in Enumerable.Range(0, reader.Entries).Where(live.IsLive))
            {
                rows.Add(Encoding.UTF8.GetString(stored.Read(entry)));
            }
        }

        rows.Sort(StringComparer.Ordinal);
        return rows;
    }

    /// <summary>Asserts that an index, as queries see it, equals a computation from the documents.</summary>
    public void Check(string name, AutoIndexDefinition definition, string database = "shop", string context = "")
    {
        var expected = Recompute(definition, database);
        var actual = StoreContents.TermsOf(StoreOf(name, database));
        Assert.Equal(expected.Keys, actual.Keys);
        foreach (var (id, terms) in expected)
        {
            Assert.True(
                terms.SequenceEqual(actual[id], StringComparer.Ordinal),
                $"{context} {name} {id}: {string.Join(' ', terms)} was expected, but the index has "
                    + $"{string.Join(' ', actual[id])}"
            );
        }
    }

    public void Dispose()
    {
        Host.Dispose();
        Store.Dispose();
    }

    private SortedDictionary<string, string[]> Recompute(AutoIndexDefinition definition, string database)
    {
        var expected = new SortedDictionary<string, string[]>(StringComparer.Ordinal);
        var map = new AutoIndexMap(definition);
        var entry = new IndexEntry();
        using var reader = Database(database).OpenReader();
        using var documents = reader.SeekByIdPrefix([]);
        while (documents.MoveNext())
        {
            var view = documents.View;
            if (
                definition.Collection is null
                || definition.Collection.Equals(
                    Encoding.UTF8.GetString(view.Collection),
                    StringComparison.OrdinalIgnoreCase
                )
            )
            {
                entry.Clear();
                map.Map(
                    new QueriedDocument(view, documents.Etag, Encoding.ASCII.GetBytes(Database(database).HistoryId)),
                    entry
                );
                if (!entry.IsEmpty)
                {
                    expected.Add(Encoding.UTF8.GetString(view.Id).ToLowerInvariant(), StoreContents.TermsOf(entry));
                }
            }
        }

        return expected;
    }
}
