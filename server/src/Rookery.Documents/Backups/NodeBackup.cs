using System.Buffers;
using System.Text;
using Rookery.Documents.Attachments;
using Rookery.Documents.Nodes;
using Rookery.Journal;
using Rookery.Platform;

namespace Rookery.Documents.Backups;

/// <summary>
/// A running backup of an open node. It contains hard links to the runs of one manifest, the journal entries after the
/// manifest's index, up to the last entry that is durable when the backup begins, and the contents of attachments.
/// Writes continue meanwhile, but no content is deleted. Disposing it removes the hard links and so frees their space.
/// </summary>
public sealed class NodeBackup : IDisposable
{
    /// <summary>Folder of the runs and their manifest within a backup.</summary>
    internal const string StorageFolder = "storage";

    private readonly IDisk _disk;
    private readonly IIoRecorder _io;
    private readonly JournalReader _journal;
    private readonly string _checkpoint; // directory of the hard links

    // Makes the heading of the manifest from the last index, the last etag and the contents that cannot be read.
    private readonly Func<long, long, IReadOnlyCollection<string>, string> _makeHeading;
    private readonly byte[] _buffer = new byte[BackupPiece.MaxBytes];
    private readonly NodeStore _store;
    private readonly IDisposable _contentsHold;
    private readonly HashSet<ContentPlace> _unreadable = [];
    private readonly HashSet<string> _unlisted = new(StringComparer.Ordinal); // directories that cannot be listed
    private long _throughIndex;
    private long _throughEtag;

    private NodeBackup(
        NodeStore store,
        IDisposable contentsHold,
        IDisk disk,
        IIoRecorder io,
        JournalReader journal,
        string checkpoint,
        Func<long, long, IReadOnlyCollection<string>, string> makeHeading
    )
    {
        _store = store;
        _contentsHold = contentsHold;
        _disk = disk;
        _io = io;
        _journal = journal;
        _checkpoint = checkpoint;
        _makeHeading = makeHeading;
    }

    /// <summary>Begins a backup. Call it on the thread of background work, or before that thread runs.</summary>
    /// <exception cref="BackupException">Another backup is running, or the data is damaged.</exception>
    internal static NodeBackup Begin(NodeStore store, string checkpoint, IDisk disk, IIoRecorder io)
    {
        if (store.Storage.Statistics().Damage is [var damage, ..])
        {
            throw new BackupException(
                $"No backup is taken, because a part of the data cannot be read: {damage.Sentence} Restore "
                    + $"an earlier backup, or export the readable data."
            );
        }

        if (store.IsBackupRunning)
        {
            throw new BackupException(
                $"A backup of this node is being taken already (its checkpoint is {checkpoint}). "
                    + $"Wait until it is done."
            );
        }

        // Deletions of contents are stopped first. Otherwise a content could be deleted after an entry of the backup
        // named it. The journal reader is opened before the runs are linked: it pins the segments, so it finds every
        // entry that the linked runs lack.
        var contents = store.Attachments.Garbage.Hold();
        JournalReader? journal = null;
        try
        {
            // Deletes hard links that an earlier backup failed to delete.
            RemoveCheckpoint(disk, checkpoint);
            journal = store.Journal.Read();
            var start = store.Time.GetUtcNow();
            var names = store.Databases.All.Select(database => database.Name).ToArray();
            var position = store.Storage.CopyTo(checkpoint);
            var level = store.FormatLevel;
            string Heading(long index, long etag, IReadOnlyCollection<string> unreadable) =>
                BackupManifest.HeadingOf(store.NodeId, store.ClusterId, start, index, etag, level, names, unreadable);
            var backup = new NodeBackup(store, contents, disk, io, journal, checkpoint, Heading)
            {
                _throughIndex = position.Index,
                _throughEtag = position.Sequence,
            };
            store.IsBackupRunning = true;
            return backup;
        }
        catch
        {
            journal?.Dispose();
            contents.Dispose();
            RemoveCheckpoint(disk, checkpoint);
            throw;
        }
    }

    /// <summary>Deletes a directory of hard links to files of the node, if it exists.</summary>
    internal static void RemoveCheckpoint(IDisk disk, string checkpoint)
    {
        if (!disk.Exists(checkpoint))
        {
            return;
        }

        foreach (string name in disk.List(checkpoint))
        {
            disk.Delete(Path.Join(checkpoint, name));
        }

        disk.DeleteDirectory(checkpoint);
    }

    /// <summary>
    /// Reads the whole backup in pieces; call it once. The last piece is <see cref="BackupPieceKind.End"/>.
    /// </summary>
    /// <exception cref="IOException">A file cannot be read, or a journal entry is damaged.</exception>
    public IEnumerable<BackupPiece> Read()
    {
        yield return FileNamed(BackupFrames.FileName);
        foreach (var content in ReadFrames())
        {
            yield return new BackupPiece(BackupPieceKind.Content, content);
        }

        foreach (string name in _disk.List(_checkpoint))
        {
            yield return FileNamed($"{StorageFolder}/{name}");
            foreach (var content in ReadFile(Path.Join(_checkpoint, name)))
            {
                yield return new BackupPiece(BackupPieceKind.Content, content);
            }
        }

        // The contents follow the entries: each content that an entry of the backup names is durable already, and no
        // content is deleted before the backup ends. The rows are compared with the files twice. Before the copy,
        // because a missing content may be uploaded again after the copy has passed it. After the copy, because the
        // rows of further entries exist only then.
        FindUnreadable();
        foreach (
            var file in ContentBackup.Write(
                _store.Attachments,
                place => _unreadable.Add(place),
                directory => _unlisted.Add(directory)
            )
        )
        {
            yield return FileNamed(file.Name);
            foreach (var piece in file.Pieces)
            {
                yield return new BackupPiece(BackupPieceKind.Content, piece);
            }
        }

        FindUnreadable();
        yield return new BackupPiece(
            BackupPieceKind.End,
            Encoding.UTF8.GetBytes(_makeHeading(_throughIndex, _throughEtag, DescribeUnreadable()))
        );
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _journal.Dispose();
        _contentsHold.Dispose();
        try
        {
            RemoveCheckpoint(_disk, _checkpoint);
        }
        finally
        {
            // The next backup uses the same directory, so it may begin only after the deletion. It deletes what
            // remains.
            _store.IsBackupRunning = false;
        }
    }

    // Adds the contents that rows name and whose files cannot be read now. The backup lacks them, or has them damaged.
    private void FindUnreadable()
    {
        foreach (var database in _store.Databases.All)
        {
            _unreadable.UnionWith(ContentCheck.FindUnreadable(_store.Attachments, database, _unlisted));
        }
    }

    private string[] DescribeUnreadable()
    {
        var names = _store.Databases.All.ToDictionary(
            static database => database.Number,
            static database => database.Name
        );
        return
        [
            .. _unreadable
                .Where(place => names.ContainsKey(place.Database))
                .Select(place => $"{place.Hash.ToHex()} {names[place.Database]}"),
        ];
    }

    private static BackupPiece FileNamed(string name) => new(BackupPieceKind.File, Encoding.UTF8.GetBytes(name));

    // Called before the runs are read: the entries pin segments of the journal, and the runs pin nothing.
    private IEnumerable<ReadOnlyMemory<byte>> ReadFrames()
    {
        var pending = new ArrayBufferWriter<byte>(BackupPiece.MaxBytes);
        pending.Write(BackupFrames.Preamble);
        while (_journal.Next(out var frame))
        {
            if (frame.Index <= _throughIndex)
            {
                continue;
            }

            BackupFrames.Write(pending, frame);
            _throughIndex = frame.Index;
            _throughEtag = frame.OperationsBefore + frame.OperationCount;
            if (pending.WrittenCount >= BackupPiece.MaxBytes)
            {
                foreach (var piece in Split(pending.WrittenMemory))
                {
                    yield return piece;
                }

                pending.ResetWrittenCount();
            }
        }

        foreach (var piece in Split(pending.WrittenMemory))
        {
            yield return piece;
        }
    }

    private static IEnumerable<ReadOnlyMemory<byte>> Split(ReadOnlyMemory<byte> bytes)
    {
        for (int at = 0; at < bytes.Length; at += BackupPiece.MaxBytes)
        {
            yield return bytes.Slice(at, Math.Min(BackupPiece.MaxBytes, bytes.Length - at));
        }
    }

    private IEnumerable<ReadOnlyMemory<byte>> ReadFile(string path)
    {
        using var file = _disk.Open(path, DiskOpen.Read);
        for (long offset = 0; offset < file.Length; )
        {
            long start = _io.Begin();
            int read = file.Read(_buffer, offset);
            _io.Record(IoKind.Backup, start, read);
            offset += read;
            yield return _buffer.AsMemory(0, read);
        }
    }
}
