using System.Buffers;
using System.Text;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Documents.Nodes;
using Rookery.Documents.Tests.Nodes;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Attachments;

/// <summary>A stepped node with the database "db", and helpers for tests of attachments.</summary>
internal sealed class AttachedNode : IDisposable
{
    private AttachedNode(SteppedNode node) => Node = node;

    public SteppedNode Node { get; }

    public NodeStore Store => Node.Core;

    public static AttachedNode Create(SimulatedDisk disk, Func<NodeOptions, NodeOptions>? with = null)
    {
        var node = Open(disk, with);
        node.Node.CreateDatabase("db");
        return node;
    }

    public static AttachedNode Open(SimulatedDisk disk, Func<NodeOptions, NodeOptions>? with = null)
    {
        var options = SteppedNode.Options("/data/node");
        options = with is null ? options : with(options);
        var node = new AttachedNode(SteppedNode.Open(disk, options));
        if (node.Store.Attachments.Files.RemoveUnfinished() is { } leftover)
        {
            options.TroubleFound?.Invoke(leftover);
        }

        return node;
    }

    public void Dispose() => Node.Dispose();

    public PinnedContent Upload(byte[] content)
    {
        using var upload = Begin();
        Write(upload, content);
        return upload.CompleteAsync().GetAwaiter().GetResult();
    }

    public ContentUpload Begin(long expectedBytes = 0) =>
        Store.Attachments.BeginAsync(Database, expectedBytes).GetAwaiter().GetResult();

    public static void Write(ContentUpload upload, byte[] content) =>
        upload.WriteAsync(new ReadOnlySequence<byte>(content)).AsTask().GetAwaiter().GetResult();

    /// <summary>Waits until the thread of contents has done all its work.</summary>
    public void Settle() => Store.Attachments.RunAsync(static () => { }).GetAwaiter().GetResult();

    public CommandOutcome Attach(string id, string name, byte[] content, string? expected = null)
    {
        using var pinned = Upload(content);
        return Node.Propose(Command(id, name, pinned, expected));
    }

    public CommandBuffer Command(string id, string name, PinnedContent content, string? expected = null)
    {
        using var writer = new BatchWriter(CommandKind.Batch, Database);
        writer.PutAttachment(
            Encoding.UTF8.GetBytes(id),
            Expect(expected),
            new AttachmentEntry
            {
                Name = Encoding.UTF8.GetBytes(name),
                ContentType = "text/plain"u8,
                Hash = content.Hash,
                Size = content.Size,
            }
        );
        return writer.Complete();
    }

    public CommandOutcome Detach(string id, string name, string? expected = null)
    {
        using var writer = new BatchWriter(CommandKind.Batch, Database);
        writer.DeleteAttachment(Encoding.UTF8.GetBytes(id), Expect(expected), Encoding.UTF8.GetBytes(name));
        return Node.Propose(writer.Complete());
    }

    public CommandOutcome DeleteDocument(string id) =>
        Node.Propose(CommandEncoder.Delete(Database, Encoding.UTF8.GetBytes(id), ExpectedChangeVector.None, default));

    /// <summary>Returns the names of a document's attachments, in order, and null without a document.</summary>
    public string[]? Names(string id)
    {
        using var reader = Node.Database("db").OpenReader();
        if (!reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document))
        {
            return null;
        }

        using (document)
        {
            var names = new List<string>();
            var list = new AttachmentList(document.Head.Attachments);
            while (list.TryRead(out var entry))
            {
                names.Add(Encoding.UTF8.GetString(entry.Name));
            }

            return [.. names];
        }
    }

    /// <summary>Reads an attachment's content.</summary>
    public byte[] Read(string id, string name)
    {
        using var reader = Node.Database("db").OpenReader();
        Assert.True(reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document));
        using (document)
        {
            Assert.True(AttachmentList.TryFind(document.Head.Attachments, Encoding.UTF8.GetBytes(name), out var entry));
            using var file = Store.Attachments.Open(Database, entry.Hash);
            Assert.Equal(entry.Size, file.Size);
            byte[] chunk = new byte[ContentFile.ChunkBytes];
            var content = new List<byte>();
            for (int i = 0; i < file.ChunkCount; i++)
            {
                content.AddRange(chunk.AsSpan(0, file.ReadChunk(i, chunk)));
            }

            return [.. content];
        }
    }

    public AttachmentTotals Totals()
    {
        using var reader = Node.Database("db").OpenReader();
        Assert.Null(ContentCheck.FindMiscount(reader));
        return reader.ReadStatistics().Attachments;
    }

    public string Json(string id)
    {
        using var reader = Node.Database("db").OpenReader();
        Assert.True(reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document));
        using (document)
        {
            var output = new ArrayBufferWriter<byte>();
            document.Write(output, Encoding.ASCII.GetBytes(Node.Database("db").HistoryId));
            return Encoding.UTF8.GetString(output.WrittenSpan);
        }
    }

    public string ChangeVector(CommandOutcome outcome) => Node.Database("db").ChangeVectorOf(outcome[0].Etag);

    /// <summary>Deletes all files that are not needed.</summary>
    public void Collect()
    {
        while (Store.Attachments.Garbage.Collect(maxFiles: 2)) { }
    }

    public uint Database => Node.Database("db").Number;

    private static ExpectedChangeVector Expect(string? expected) =>
        expected is null
            ? ExpectedChangeVector.None
            : ExpectedChangeVector.MustEqual(Encoding.ASCII.GetBytes(expected));
}
