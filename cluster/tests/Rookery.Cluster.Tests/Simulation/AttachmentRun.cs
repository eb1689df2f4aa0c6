using System.Buffers;
using System.Text;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using Rookery.Platform;

namespace Rookery.Cluster.Tests.Simulation;

/// <summary>
/// Attachments on a simulated cluster: what clients do and know, and the rule that no member has an entry in its
/// journal before it has the contents that the entry names. A content is the bytes of attachments with one hash.
/// </summary>
internal sealed class AttachmentRun(SteppedCluster cluster)
{
    private const uint Database = 1;

    private readonly Dictionary<(string Id, string Name), HashSet<string>> _allowed = [];
    private readonly Dictionary<string, byte[]> _bytes = [];
    private readonly Dictionary<(SteppedMember Member, int Start), long> _checkedThrough = [];
    private readonly Dictionary<SteppedMember, long> _applied = []; // the highest index, also before a crash
    private readonly HashSet<(SteppedMember Member, long Index, long Term)> _released = [];

    /// <summary>The hash of no attachment.</summary>
    public static string None => string.Empty;

    /// <summary>Number of requests without an answer.</summary>
    public int Unanswered { get; private set; }

    /// <summary>Number of acknowledged changes.</summary>
    public int Acknowledged { get; private set; }

    /// <summary>Stores an attachment through a member.</summary>
    public async Task<Rejection?> AttachAsync(SteppedMember member, string id, string name, byte[] content)
    {
        PinnedContent pinned;
        try
        {
            using var upload = await member.Store!.Attachments.BeginAsync(Database, expectedBytes: 0);
            await upload.WriteAsync(new ReadOnlySequence<byte>(content));
            pinned = await upload.CompleteAsync();
        }
        catch (DiskException refused)
        {
            return new Rejection(RejectionKind.Damaged, refused.Message);
        }

        _bytes[pinned.Hash.ToHex()] = content;
        var rejection = await ChangeAsync(member, id, name, pinned.Hash.ToHex(), CommandOf(id, name, pinned));
        pinned.Dispose();
        return rejection;
    }

    /// <summary>Stores a content at one member only.</summary>
    public static PinnedContent Upload(SteppedMember member, byte[] content)
    {
        using var upload = member.Store!.Attachments.BeginAsync(Database, expectedBytes: 0).GetAwaiter().GetResult();
        upload.WriteAsync(new ReadOnlySequence<byte>(content)).AsTask().GetAwaiter().GetResult();
        return upload.CompleteAsync().GetAwaiter().GetResult();
    }

    /// <summary>Deletes an attachment through a member.</summary>
    public async Task<Rejection?> DetachAsync(SteppedMember member, string id, string name)
    {
        using var writer = new BatchWriter(CommandKind.Batch, Database);
        writer.DeleteAttachment(Encoding.UTF8.GetBytes(id), ExpectedChangeVector.None, Encoding.UTF8.GetBytes(name));
        return await ChangeAsync(member, id, name, None, writer.Complete());
    }

    /// <summary>Checks the rule for the entries that came into a journal since the last step.</summary>
    public void CheckJournals()
    {
        foreach (var member in cluster.Members.Where(static member => member.IsUp))
        {
            var journal = member.Store!.Journal;
            // An entry that was applied once may have been released since, and is replayed without its content.
            long applied = Math.Max(_applied.GetValueOrDefault(member), member.Store.AppliedIndex);
            _applied[member] = applied;
            long from = Math.Max(
                _checkedThrough.GetValueOrDefault((member, member.Starts), journal.FirstIndex - 1),
                applied
            );
            if (journal.LastIndex <= from)
            {
                continue;
            }

            _checkedThrough[(member, member.Starts)] = journal.LastIndex;
            using var reader = journal.Read(Math.Max(from + 1, journal.FirstIndex));
            while (reader.Next(out var frame))
            {
                var names = new List<ContentName>();
                ContentName.AddOfPayload(frame.Payload.Span, names);
                foreach (var name in names)
                {
                    if (IsReleasedElsewhere(member, name, frame.Index))
                    {
                        _released.Add((member, frame.Index, frame.Term));
                    }

                    Assert.True(
                        HasFile(member, name.Place) || _released.Contains((member, frame.Index, frame.Term)),
                        $"seed {cluster.Seed}: {member} has entry {frame.Index} and not its content"
                    );
                }
            }
        }
    }

    /// <summary>
    /// Checks that each member reads each attachment as acknowledged, with equal bytes, and has no other content.
    /// </summary>
    public void CheckEnd()
    {
        foreach (var member in cluster.Members)
        {
            var needed = new HashSet<ContentPlace>();
            foreach (var ((id, name), allowed) in _allowed)
            {
                string hash = Find(member, id, name);
                Assert.True(
                    allowed.Contains(hash),
                    $"seed {cluster.Seed}: {member} has {id}/{name} as '{hash}', of {string.Join(' ', allowed)}"
                );
                if (hash.Length > 0)
                {
                    Assert.True(ContentHash.TryParseHex(hash, out var parsed));
                    needed.Add(new ContentPlace(Database, parsed));
                    Assert.Equal(_bytes[hash], Read(member, parsed));
                }
            }

            Assert.Equal(
                needed.Select(static place => place.Hash.ToHex()).Order(StringComparer.Ordinal),
                FilesOf(member).Select(static place => place.Hash.ToHex()).Order(StringComparer.Ordinal)
            );
        }
    }

    /// <summary>Returns the contents that have files.</summary>
    public static IEnumerable<ContentPlace> FilesOf(SteppedMember member) =>
        member.Store!.Attachments.Files.List(static _ => { });

    /// <summary>Reads all bytes of a content.</summary>
    public static byte[] Read(SteppedMember member, ContentHash hash)
    {
        using var file = member.Store!.Attachments.Open(Database, hash);
        byte[] bytes = new byte[file.Size];
        byte[] chunk = new byte[ContentFile.ChunkBytes];
        for (int i = 0; i < file.ChunkCount; i++)
        {
            int length = file.ReadChunk(i, chunk);
            chunk.AsSpan(0, length).CopyTo(bytes.AsSpan(i * ContentFile.ChunkBytes));
        }

        return bytes;
    }

    private async Task<Rejection?> ChangeAsync(
        SteppedMember member,
        string id,
        string name,
        string hash,
        CommandBuffer command
    )
    {
        // At most one change of an attachment is under way at a time.
        var before = _allowed.GetValueOrDefault((id, name)) ?? [None];
        _allowed[(id, name)] = [.. before, hash];
        Unanswered++;
        var outcome = await cluster.AnswerInTime(Nullable(member.Propose(command)), member, milliseconds: 60_000);
        Unanswered--;
        if (outcome is { Rejection: null })
        {
            _allowed[(id, name)] = [hash];
            Acknowledged++;
        }
        else if (outcome is { Rejection.Kind: not RejectionKind.OutcomeUnknown })
        {
            _allowed[(id, name)] = before;
        }

        return outcome?.Rejection ?? (outcome is null ? new Rejection(RejectionKind.OutcomeUnknown, "silent") : null);

        static async Task<CommandOutcome?> Nullable(Task<CommandOutcome> outcome) => await outcome;
    }

    /// <summary>Makes the command that stores an attachment.</summary>
    public static CommandBuffer CommandOf(string id, string name, PinnedContent content)
    {
        using var writer = new BatchWriter(CommandKind.Batch, Database);
        writer.PutAttachment(
            Encoding.UTF8.GetBytes(id),
            ExpectedChangeVector.None,
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

    private static bool HasFile(SteppedMember member, ContentPlace place)
    {
        using var file = member.Disk.Exists(member.Store!.Attachments.Files.PathOf(place))
            ? member.Store.Attachments.Open(place.Database, place.Hash)
            : null;
        return file is not null;
    }

    private bool IsReleasedElsewhere(SteppedMember member, ContentName name, long index) =>
        cluster.Members.Exists(other =>
        {
            if (other == member || !other.IsUp || other.Store!.AppliedIndex < index)
            {
                return false;
            }

            using var snapshot = other.Store.Storage.OpenSnapshot();
            return !ContentRows.TryRead(snapshot, name.Database, name.Hash, out _);
        });

    private static string Find(SteppedMember member, string id, string name)
    {
        Assert.True(member.Store!.Databases.TryGet("db", out var database));
        using var reader = database.OpenReader();
        Assert.True(reader.TryGetDocument(Encoding.UTF8.GetBytes(id), out var document));
        using (document)
        {
            return AttachmentList.TryFind(document.View.Attachments, Encoding.UTF8.GetBytes(name), out var attachment)
                ? attachment.Hash.ToHex()
                : None;
        }
    }

    /// <summary>Makes the bytes of a content from a seed.</summary>
    public static byte[] ContentOf(int seed, int length)
    {
        byte[] content = new byte[length];
        new Random(seed).NextBytes(content);
        return content;
    }
}
