using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Attachments;

/// <summary>
/// The contents as the members of a cluster exchange them: tells which are durable here, reads contents for other
/// members, and receives contents from them (docs/explanation/attachments.md, "Clusters"). Thread-safe.
/// </summary>
/// <param name="contents">The contents of this node.</param>
/// <param name="storage">The rows.</param>
public sealed class ReplicatedContents(AttachmentContents contents, StorageEngine storage)
{
    /// <summary>The largest piece that <see cref="Read"/> reads: whole chunks.</summary>
    public const int PieceBytes = 4 * ContentFormat.ChunkBytes;

    /// <summary>The largest number of contents that <see cref="List"/> returns.</summary>
    public const int MaxListed = 512;

    /// <summary>
    /// Whether a content is known to be durable here, without reading the disk. Such a content is pinned or leased.
    /// </summary>
    public bool IsDurable(in ContentName name) =>
        contents.Garbage.IsDurable(name.Place) && !contents.Troubles.Has(name.Place);

    /// <summary>
    /// Checks whether a content is durable here. If so, it is not deleted for at least two minutes. A content that is
    /// known to be damaged is not durable: it is fetched again.
    /// </summary>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    /// <exception cref="OperationCanceledException">The node stops.</exception>
    public async Task<bool> CheckAsync(ContentName name)
    {
        if (contents.Troubles.Has(name.Place))
        {
            return false;
        }

        if (contents.Garbage.TryLeaseDurable(name.Place))
        {
            return true;
        }

        bool isDurable = false;
        await contents.RunAsync(() =>
        {
            contents.Garbage.Pin(name.Place); // waits for a deletion in progress, and prevents others
            try
            {
                isDurable = contents.Files.IsDurable(name.Place);
            }
            finally
            {
                contents.Garbage.EndPin(name.Place, leases: isDurable);
            }
        });
        // A read may have found damage meanwhile.
        return isDurable && !contents.Troubles.Has(name.Place);
    }

    /// <summary>Pins a content if it is durable here.</summary>
    /// <returns>Null if it is not.</returns>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    /// <exception cref="OperationCanceledException">The node stops.</exception>
    public async Task<PinnedContent?> TryPinAsync(ContentName name)
    {
        if (
            contents.Troubles.Has(name.Place)
            || (
                !contents.Garbage.TryPinDurable(name.Place)
                && !(await CheckAsync(name) && contents.Garbage.TryPinDurable(name.Place))
            )
        )
        {
            return null;
        }

        return new PinnedContent(contents.Garbage, name.Place, name.Size);
    }

    /// <summary>
    /// Keeps a content until an index is applied. Called when the entry with this index, which names the content, is
    /// added to the log here or arrives from the leader.
    /// </summary>
    public void Keep(in ContentName name, long index) => contents.Garbage.Keep(name.Place, index);

    /// <summary>Begins to receive a content from another member. Its size and hash are checked at the end.</summary>
    /// <exception cref="ContentRefusedException">The disk has no room.</exception>
    /// <exception cref="DiskException">The file cannot be created.</exception>
    /// <exception cref="OperationCanceledException">The node stops.</exception>
    public Task<ContentUpload> ReceiveAsync(ContentName name) => contents.BeginAsync(name);

    /// <summary>Leases a content that has arrived.</summary>
    public void EndReceive(in ContentName name, PinnedContent received)
    {
        contents.Garbage.TryLeaseDurable(name.Place);
        received.Dispose();
    }

    /// <summary>Reads a piece of a content for another member. Checks every byte.</summary>
    /// <param name="name">The content.</param>
    /// <param name="from">The first byte, a multiple of <see cref="PieceBytes"/>.</param>
    /// <param name="buffer">Receives the piece; at least <see cref="PieceBytes"/> bytes.</param>
    /// <exception cref="DiskException">The system lacks open files or memory: the content may be whole.</exception>
    public ContentPiece Read(in ContentName name, long from, Span<byte> buffer)
    {
        long applied = storage.AppliedIndex; // the rows are read afterwards, so they are at least as new
        try
        {
            using var file = contents.Open(name.Database, name.Hash);
            if (file.Size != name.Size || from < 0 || from > file.Size || from % PieceBytes != 0)
            {
                return new ContentPiece(ContentState.Damaged, Bytes: 0, applied);
            }

            int chunk = (int)(from / ContentFormat.ChunkBytes);
            int bytes = 0;
            while (bytes < PieceBytes && chunk < file.ChunkCount)
            {
                bytes += file.ReadChunk(chunk, buffer.Slice(bytes, ContentFormat.ChunkBytes));
                chunk++;
            }

            return new ContentPiece(ContentState.Whole, bytes, applied);
        }
        catch (ContentDamagedException)
        {
            return new ContentPiece(IsNeeded(name) ? ContentState.Damaged : ContentState.Gone, Bytes: 0, applied);
        }
        catch (DiskException refused) when (!refused.IsResourceShortage)
        {
            // Answers, because the next request would fail too, and the other member would wait for ever.
            if (!IsNeeded(name))
            {
                return new ContentPiece(ContentState.Gone, Bytes: 0, applied);
            }

            contents.Troubles.Add(name.Place, $"The content of an attachment cannot be read: {refused.Message}");
            return new ContentPiece(ContentState.Damaged, Bytes: 0, applied);
        }
    }

    /// <summary>
    /// Reports a content that no member can give. An entry of this node's log names it, so it counts as damaged here
    /// until it is uploaded again.
    /// </summary>
    public void ReportLost(in ContentName name) =>
        contents.Troubles.Add(
            name.Place,
            $"No member can give the content {name.Hash.ToHex()} of an attachment: it is damaged everywhere."
        );

    private bool IsNeeded(in ContentName name)
    {
        using var snapshot = storage.OpenSnapshot();
        return ContentRows.TryRead(snapshot, name.Database, name.Hash, out _);
    }

    /// <summary>Lists contents that rows name, in the order of databases and hashes.</summary>
    /// <param name="after">The content after which the list begins; null for the first.</param>
    /// <returns>Up to <see cref="MaxListed"/>; none at the end.</returns>
    /// <exception cref="DamagedException">A row is damaged.</exception>
    public ContentPage List(ContentName? after)
    {
        long applied = storage.AppliedIndex;
        var names = new List<ContentName>();
        var skip = after?.Hash;
        foreach (var database in contents.Databases.OrderBy(static database => database.Number))
        {
            if (names.Count == MaxListed || database.Number < (after?.Database ?? 0))
            {
                continue;
            }

            using var snapshot = storage.OpenSnapshot();
            using var rows = ContentRows.Seek(
                snapshot,
                database.Number,
                database.Number == after?.Database ? skip : null
            );
            while (names.Count < MaxListed && rows.MoveNext())
            {
                var row = ContentRows.Decode(rows);
                names.Add(new ContentName(database.Number, row.Hash, row.Size));
            }
        }

        return new ContentPage(names, applied);
    }

    /// <summary>The contents that are missing or damaged here although rows name them.</summary>
    public IReadOnlyList<ContentName> Damaged
    {
        get
        {
            var places = contents.Troubles.Places;
            if (places.Count == 0)
            {
                return [];
            }

            var damaged = new List<ContentName>();
            using var snapshot = storage.OpenSnapshot();
            foreach (var place in places)
            {
                try
                {
                    if (ContentRows.TryRead(snapshot, place.Database, place.Hash, out var row))
                    {
                        damaged.Add(new ContentName(place.Database, place.Hash, row.Size));
                    }
                }
                catch (DamagedException)
                {
                    // Reported, and repaired first, as damage of the tables.
                }
            }

            return damaged;
        }
    }

    /// <summary>
    /// Prevents deletions until the result is disposed, because a state that names contents is being fetched.
    /// </summary>
    public IDisposable Hold() => contents.Garbage.Hold();

    /// <summary>Compares all contents with the rows later, because another state was installed.</summary>
    public void RequestSweep() => contents.Garbage.RequestSweepNow();
}

/// <summary>What a member has of a content.</summary>
public enum ContentState : byte
{
    /// <summary>The piece was read.</summary>
    Whole = 0,

    /// <summary>There is no such content, and no row that names it.</summary>
    Gone = 1,

    /// <summary>A row names the content, and its file is missing or damaged.</summary>
    Damaged = 2,
}

/// <summary>A member's answer to a request for a piece.</summary>
/// <param name="State">What the member has.</param>
/// <param name="Bytes">Length of the piece.</param>
/// <param name="AppliedIndex">An index that the member had applied when it looked.</param>
public readonly record struct ContentPiece(ContentState State, int Bytes, long AppliedIndex);

/// <summary>A part of a member's list of contents.</summary>
/// <param name="Names">The contents.</param>
/// <param name="AppliedIndex">An index that the member had applied when it read the list.</param>
public sealed record ContentPage(IReadOnlyList<ContentName> Names, long AppliedIndex);
