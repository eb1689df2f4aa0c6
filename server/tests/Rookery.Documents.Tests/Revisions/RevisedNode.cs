using System.Buffers;
using System.Text;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Revisions;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Revisions;

/// <summary>A stepped node with the database "db", and helpers for tests of revisions.</summary>
internal sealed class RevisedNode : IDisposable
{
    private readonly SimulatedDisk _disk = new("/data");
    private readonly NodeOptions _options;

    public RevisedNode(Func<NodeOptions, NodeOptions>? with = null)
    {
        var options = SteppedNode.Options("/data/node");
        _options = with is null ? options : with(options);
        Node = SteppedNode.Open(_disk, _options, Time);
        Node.CreateDatabase("db");
    }

    public SimulatedTimeProvider Time { get; } = new(new DateTimeOffset(2026, 1, 1, 0, 0, 0, TimeSpan.Zero));

    public SteppedNode Node { get; private set; }

    public uint Database => Node.Database("db").Number;

    public void Dispose() => Node.Dispose();

    public void Restart()
    {
        Node.Dispose();
        Node = SteppedNode.Open(_disk, _options, Time);
    }

    public void Configure(RevisionRule? rule, params (string, RevisionRule)[] collections) =>
        Node.Run(CommandEncoder.ConfigureRevisions(Database, new RevisionsConfiguration(rule, collections)));

    public void Put(string id, string json) => Node.Put("db", id, json);

    /// <summary>Stores a document of the collection Users.</summary>
    public void PutUser(string id, string name) =>
        Put(id, "{\"name\":\"" + name + "\",\"@metadata\":{\"@collection\":\"Users\"}}");

    public void Delete(string id) =>
        Node.Run(CommandEncoder.Delete(Database, Bytes(id), ExpectedChangeVector.None, key: default));

    public CommandOutcome Batch(string commands)
    {
        Assert.True(
            BatchRequestParser.TryParse(
                Bytes("{\"Commands\":[" + commands + "]}"),
                Database,
                key: default,
                maxBatchBytes: 32 << 20,
                out var batch,
                out var error,
                FormatLevel.Newest
            ),
            error.ToString()
        );
        return Node.Propose(batch.Command);
    }

    public CommandOutcome Act(string id, RevisionAction action, long etag = 0, bool forced = false, params long[] etags)
    {
        using var writer = new BatchWriter(CommandKind.Batch, Database);
        byte[] named = new byte[etags.Length * sizeof(long)];
        Buffer.BlockCopy(etags, 0, named, 0, named.Length);
        writer.Revision(
            Bytes(id),
            new RevisionCommand
            {
                Action = action,
                Etag = etag,
                IncludesForced = forced,
                FromTicks = 0,
                ToTicks = long.MaxValue,
                Etags = named,
            }
        );
        return Node.Propose(writer.Complete());
    }

    /// <summary>Returns the bodies of a document's revisions, newest first; "-" stands for a deletion.</summary>
    public string[] Bodies(string id) => [.. Read(id).Select(static revision => revision.Body)];

    public List<(long Etag, string Body, string Json)> Read(string id)
    {
        var found = new List<(long, string, string)>();
        using var reader = Node.Database("db").OpenReader();
        using var revisions = new RevisionReader(reader);
        if (!revisions.TrySelect(Bytes(id)))
        {
            return found;
        }

        while (revisions.MoveNext())
        {
            found.Add((revisions.Etag, BodyOf(revisions), JsonOf(revisions)));
        }

        Assert.Equal(revisions.Count, found.Count);
        return found;
    }

    public long Etag(string id)
    {
        using var reader = Node.Database("db").OpenReader();
        reader.TryGetDocument(Bytes(id), out var document);
        using (document)
        {
            return document.Etag;
        }
    }

    public string Json(string id)
    {
        using var reader = Node.Database("db").OpenReader();
        Assert.True(reader.TryGetDocument(Bytes(id), out var document));
        using (document)
        {
            var output = new ArrayBufferWriter<byte>();
            document.Write(output, Encoding.ASCII.GetBytes(Node.Database("db").HistoryId));
            return Encoding.UTF8.GetString(output.WrittenSpan);
        }
    }

    public long Total()
    {
        using var reader = Node.Database("db").OpenReader();
        return reader.ReadStatistics().Revisions;
    }

    private static string BodyOf(RevisionReader revisions)
    {
        string json = JsonOf(revisions);
        return json.Contains("DeleteRevision", StringComparison.Ordinal)
            ? "-"
            : Encoding.UTF8.GetString(revisions.View.Body);
    }

    private static string JsonOf(RevisionReader revisions)
    {
        var output = new ArrayBufferWriter<byte>();
        revisions.Write(output, metadataOnly: false, "0123456789012345678901"u8);
        return Encoding.UTF8.GetString(output.WrittenSpan);
    }

    private static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text);
}
