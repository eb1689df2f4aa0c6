using Rookery.Documents.Databases;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Attachments;

/// <summary>
/// Stores the contents of attachments. A content is the bytes that all attachments of a database with the same hash
/// share: one file, outside the log and the tables (docs/explanation/attachments.md). The rows of
/// <see cref="ContentRows"/> decide which files are needed. Thread-safe.
/// </summary>
public sealed class AttachmentContents : IDisposable
{
    /// <summary>The size limit of an attachment by default.</summary>
    public const long DefaultMaxBytes = 1L << 30;

    private readonly IDisk _disk;
    private readonly StorageEngine _storage;
    private readonly DatabaseCatalog _databases;
    private readonly ContentSpace _space;
    private readonly ContentThread _thread = new();

    internal AttachmentContents(
        IDisk disk,
        StorageEngine storage,
        DatabaseCatalog databases,
        NodeOptions options,
        long lastIndexOfJournal,
        TimeProvider time
    )
    {
        _disk = disk;
        _storage = storage;
        _databases = databases;
        MaxBytes = options.MaxAttachmentBytes;
        Files = new ContentDirectory(disk, options.DataDirectory);
        Garbage = new ContentGarbage(storage, Files, lastIndexOfJournal, time);
        Troubles = new ContentTroubles(options.TroubleFound, Garbage.EndLease);
        Replicated = new ReplicatedContents(this, storage);
        Scrub = new ContentScrub(this, databases);
        Maintenance = new ContentMaintenance(this, time);
        _space = new ContentSpace(disk, Files.Root, options);
    }

    /// <summary>The size limit of an attachment.</summary>
    public long MaxBytes { get; }

    /// <summary>A sentence about each content that is missing or cannot be read, as far as known.</summary>
    public IReadOnlyList<string> Damage => Troubles.Sentences;

    /// <summary>The contents as members exchange them.</summary>
    public ReplicatedContents Replicated { get; }

    /// <summary>Whether work on files runs on the caller's thread, for tests with simulated time.</summary>
    internal bool RunsInline
    {
        set => _thread.RunsInline = value;
    }

    internal IEnumerable<Database> Databases => _databases.All;

    internal ContentDirectory Files { get; }

    internal ContentGarbage Garbage { get; }

    internal ContentScrub Scrub { get; }

    internal ContentMaintenance Maintenance { get; }

    internal ContentTroubles Troubles { get; }

    internal bool HasFiles => Files.Exists;

    /// <summary>Begins an upload.</summary>
    /// <param name="database">Number of the database.</param>
    /// <param name="expectedBytes">The announced size; 0 if unknown.</param>
    /// <exception cref="ContentRefusedException">The content is too large, or the disk has no room.</exception>
    /// <exception cref="DiskException">The file cannot be created.</exception>
    /// <exception cref="OperationCanceledException">The node stops.</exception>
    public async Task<ContentUpload> BeginAsync(uint database, long expectedBytes)
    {
        if (expectedBytes > MaxBytes)
        {
            throw ContentRefusedException.TooLarge(MaxBytes);
        }

        return await BeginAsync(new ContentUpload(this, database), expectedBytes);
    }

    /// <summary>Begins to receive a content from another member, which accepted its size.</summary>
    internal Task<ContentUpload> BeginAsync(ContentName expected) =>
        BeginAsync(new ContentUpload(this, expected.Database) { Expected = expected }, expected.Size);

    private async Task<ContentUpload> BeginAsync(ContentUpload upload, long expectedBytes)
    {
        try
        {
            await _thread.RunAsync(() => upload.Open(Files.Create, ContentFormat.FileLength(expectedBytes)));
            return upload;
        }
        catch
        {
            upload.Dispose();
            throw;
        }
    }

    /// <summary>Opens a content for reading.</summary>
    /// <exception cref="ContentDamagedException">The file is missing or damaged.</exception>
    /// <exception cref="DiskException">A disk operation failed.</exception>
    public ContentFile Open(uint database, ContentHash hash)
    {
        var place = new ContentPlace(database, hash);
        return ContentFile.Open(_disk, Files.PathOf(place), place, Troubles);
    }

    /// <summary>
    /// Reports that a content is missing although its attachment exists, as a read has found.
    /// </summary>
    public void ReportMissing(uint database, ContentHash hash, string sentence) =>
        Troubles.Add(new ContentPlace(database, hash), sentence);

    /// <summary>Ends the threads of uploads and of maintenance. Uploads are cancelled.</summary>
    public void Dispose()
    {
        Maintenance.Dispose();
        _thread.Dispose();
    }

    internal Snapshot OpenSnapshot() => _storage.OpenSnapshot();

    /// <summary>Runs the work of an upload on the thread of contents.</summary>
    internal Task RunAsync(Action work) => _thread.RunAsync(work);

    /// <summary>Refuses an upload that does not fit now. Call it on the thread of contents.</summary>
    /// <exception cref="ContentRefusedException">There is no room.</exception>
    internal void RequireRoom(long bytes) => _space.Require(reserved: 0, bytes);

    /// <summary>Reserves room on the disk. Call it on the thread of contents.</summary>
    /// <exception cref="ContentRefusedException">There is none.</exception>
    internal void Reserve(ref long reserved, long bytes) => _space.Reserve(ref reserved, bytes);

    /// <summary>Counts reserved bytes as written.</summary>
    internal void Spend(long bytes) => _space.Release(bytes);

    /// <summary>Renames a synced file to the name of its content, durably, and pins the content.</summary>
    internal PinnedContent Name(string part, uint database, ContentHash hash, long size)
    {
        var place = new ContentPlace(database, hash);
        Garbage.Pin(place);
        try
        {
            Files.Rename(part, place);
        }
        catch
        {
            Garbage.Unpin(place);
            throw;
        }

        Troubles.Remove(place); // equal bytes may have replaced a damaged file
        return new PinnedContent(Garbage, place, size);
    }

    /// <summary>Ends an upload, and deletes its file unless it was renamed to its content.</summary>
    internal void End(string? unnamed, long reserved)
    {
        if (unnamed is not null || reserved != 0)
        {
            _ = RunAsync(() => Discard(unnamed, reserved));
        }
    }

    private void Discard(string? unnamed, long reserved)
    {
        _space.Release(reserved);
        try
        {
            if (unnamed is not null)
            {
                _disk.Delete(unnamed);
            }
        }
        catch (DiskException)
        {
            // The next start deletes it.
        }
    }
}
