using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Platform;
using Rookery.Simulation;

namespace Rookery.Documents.Tests.Attachments;

/// <summary>The contents of a node as other members of its cluster see them.</summary>
public sealed class ReplicatedContentsTests : IDisposable
{
    private readonly SimulatedDisk _disk = new("/data");
    private readonly AttachedNode _node;

    public ReplicatedContentsTests()
    {
        _node = AttachedNode.Create(_disk);
        _node.Node.Put("db", "a", "{}");
    }

    private ReplicatedContents Contents => _node.Store.Attachments.Replicated;

    public void Dispose() => _node.Dispose();

    [Fact]
    public void A_content_is_read_in_pieces()
    {
        byte[] content = new byte[(2 * ReplicatedContents.PieceBytes) + 5];
        new Random(1).NextBytes(content);
        var name = Upload(content);
        var received = new List<byte>();
        byte[] buffer = new byte[ReplicatedContents.PieceBytes];
        ContentPiece piece;
        do
        {
            piece = Contents.Read(name, received.Count, buffer);
            Assert.Equal(ContentState.Whole, piece.State);
            received.AddRange(buffer.AsSpan(0, piece.Bytes));
        } while (piece.Bytes == ReplicatedContents.PieceBytes);

        Assert.Equal(content, received);
    }

    [Theory]
    [InlineData(1)]
    [InlineData(-1)]
    [InlineData(long.MaxValue)]
    [InlineData(ReplicatedContents.PieceBytes)]
    public void A_piece_at_an_invalid_position_is_refused(long from)
    {
        var name = Upload([1, 2, 3]);
        var piece = Contents.Read(name, from, new byte[ReplicatedContents.PieceBytes]);
        Assert.NotEqual(ContentState.Whole, piece.State);
    }

    [Fact]
    public void A_content_without_file_and_row_is_gone_as_of_the_applied_index()
    {
        var name = new ContentName(_node.Database, default, Size: 3);
        var piece = Contents.Read(name, from: 0, new byte[ReplicatedContents.PieceBytes]);
        Assert.Equal(ContentState.Gone, piece.State);
        Assert.Equal(_node.Store.AppliedIndex, piece.AppliedIndex);
    }

    [Fact]
    public void A_missing_content_with_a_row_is_damaged()
    {
        _node.Attach("a", "x", [1]);
        var name = Assert.Single(Contents.List(after: null).Names);
        _disk.Delete(_node.Store.Attachments.Files.PathOf(name.Place));
        var piece = Contents.Read(name, from: 0, new byte[ReplicatedContents.PieceBytes]);
        Assert.Equal(ContentState.Damaged, piece.State);
    }

    [Fact]
    public void Bytes_of_another_content_are_not_stored()
    {
        var name = Upload([1, 2, 3]);
        var other = name with { Hash = default };
        using var arriving = Receive(other);
        AttachedNode.Write(arriving, [1, 2, 3]);
        var refused = Assert.Throws<ContentRefusedException>(() => Complete(arriving));
        Assert.Equal(ContentRefusal.Differs, refused.Cause);
        Assert.Throws<ContentRefusedException>(() => AttachedNode.Write(arriving, [4]));
        Assert.False(Check(other));
    }

    [Fact]
    public void A_pin_without_a_file_makes_no_content_durable()
    {
        var name = new ContentName(_node.Database, default, Size: 3);
        _node.Store.Attachments.Garbage.Pin(name.Place); // as an upload does before it names its file
        Assert.False(Contents.IsDurable(name));
        Assert.False(Check(name));
        _node.Store.Attachments.Garbage.Unpin(name.Place);
    }

    [Fact]
    public void A_kept_content_stays_until_its_entry_is_applied()
    {
        var name = Upload([1, 2, 3]);
        Contents.Keep(name, _node.Store.AppliedIndex + 1);
        Collect();
        Assert.True(_disk.Exists(_node.Store.Attachments.Files.PathOf(name.Place)));
        _node.Node.Put("db", "b", "{}");
        Collect();
        Assert.False(_disk.Exists(_node.Store.Attachments.Files.PathOf(name.Place)));
    }

    [Fact]
    public void Contents_are_listed_page_by_page()
    {
        for (int i = 0; i < 5; i++)
        {
            _node.Attach("a", $"x{i}", [(byte)i]);
        }

        var all = Contents.List(after: null).Names;
        Assert.Equal(5, all.Count);
        Assert.Equal(all.Skip(2), Contents.List(all[1]).Names);
        Assert.Empty(Contents.List(all[^1]).Names);
    }

    [Fact]
    public void A_command_that_stores_an_attachment_names_its_content()
    {
        using var pinned = _node.Upload([1, 2, 3]);
        using var command = _node.Command("a", "x", pinned);
        Assert.True(CommandReader.NamesContentsIn(command.Written.Span));
        var names = new List<ContentName>();
        ContentName.AddOfCommand(command.Written.Span, names);
        Assert.Equal([new ContentName(_node.Database, pinned.Hash, Size: 3)], names);
    }

    [Fact]
    public void A_content_that_the_disk_cannot_read_is_answered_as_damaged()
    {
        var name = Attach();
        Refuse(DiskCalls.Read, Errno.InputOutput);
        Assert.Equal(ContentState.Damaged, ReadFirst(name).State);
        Assert.Single(_node.Store.Attachments.Damage);
    }

    [Fact]
    public void A_content_that_the_node_has_no_memory_to_read_is_not_answered()
    {
        var name = Attach();
        Refuse(DiskCalls.Open, Errno.NoMemory);
        Assert.Throws<DiskException>(() => ReadFirst(name));
        Assert.Empty(_node.Store.Attachments.Damage);
    }

    [Fact]
    public void A_content_that_is_known_to_be_damaged_is_not_durable_until_it_is_uploaded_again()
    {
        var name = Attach();
        Assert.True(Check(name));
        Assert.True(Contents.IsDurable(name)); // leased
        Refuse(DiskCalls.Read, Errno.InputOutput);
        ReadFirst(name);
        _disk.ClearFaults();
        Assert.False(Contents.IsDurable(name));
        Assert.False(Check(name));
        Assert.Null(TryPin(name));
        Upload([1, 2, 3]);
        Assert.False(Contents.IsDurable(name)); // the lease has ended
        Assert.True(Check(name));
    }

    [Fact]
    public void A_name_whose_directory_was_not_synced_is_not_durable()
    {
        var name = Attach();
        var files = _node.Store.Attachments.Files;
        Assert.True(files.IsDurable(name.Place));
        Refuse(DiskCalls.SyncDirectory, Errno.InputOutput);
        Assert.Throws<DiskException>(() => Upload([1, 2, 3]));
        Assert.Throws<DiskException>(() => files.IsDurable(name.Place));
        _disk.ClearFaults();
        Assert.True(files.IsDurable(name.Place));
    }

    [Fact]
    public void A_check_that_fails_on_disk_leaves_no_pin()
    {
        var name = Attach();
        Refuse(DiskCalls.Open, Errno.InputOutput);
        Assert.Throws<DiskException>(() => Check(name));
        Assert.Equal(0, _node.Store.Attachments.Garbage.Pins);
    }

    private ContentName Attach()
    {
        _node.Attach("a", "x", [1, 2, 3]);
        return Assert.Single(Contents.List(after: null).Names);
    }

    private void Refuse(DiskCalls calls, Errno error) =>
        _disk.Inject(
            new DiskFault(AtCall: 1, error)
            {
                Calls = calls,
                PathContains = "/attachments/",
                Sticky = true,
            }
        );

    private ContentPiece ReadFirst(ContentName name) =>
        Contents.Read(name, from: 0, new byte[ReplicatedContents.PieceBytes]);

    private ContentUpload Receive(ContentName name) => Contents.ReceiveAsync(name).GetAwaiter().GetResult();

    private static void Complete(ContentUpload arriving) => arriving.CompleteAsync().GetAwaiter().GetResult().Dispose();

    private PinnedContent? TryPin(ContentName name) => Contents.TryPinAsync(name).GetAwaiter().GetResult();

    private bool Check(ContentName name) => Contents.CheckAsync(name).GetAwaiter().GetResult();

    private ContentName Upload(byte[] content)
    {
        using var pinned = _node.Upload(content);
        return new ContentName(_node.Database, pinned.Hash, pinned.Size);
    }

    private void Collect()
    {
        _node.Store.Attachments.Garbage.ReleaseEnded();
        _node.Collect();
    }
}
