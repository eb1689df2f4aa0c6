using System.Text;
using Rookery.Documents.Nodes;
using Rookery.Platform;
using Rookery.Storage;

namespace Rookery.Documents.Backups;

/// <summary>
/// Writes the pieces of a backup into an empty directory. Writes the manifest last, after all files were synced and
/// read back. Without the manifest the directory contains no complete backup.
/// </summary>
public sealed class BackupWriter : IDisposable
{
    private readonly IDisk _disk;
    private readonly List<BackupFile> _files = [];
    private IDiskFile? _file;
    private string _name = string.Empty;
    private string? _heading; // of the manifest; null before the last piece
    private long _offset; // in the current file
    private uint _checksum;

    /// <summary>Begins a backup in a directory, and creates the directory if it is missing.</summary>
    /// <exception cref="DirectoryNotEmptyException">The directory is not empty. Nothing was written.</exception>
    /// <exception cref="SystemLibraryException">The library with which <see cref="Complete"/> reads the backup is
    /// missing or does not work. Nothing was written.</exception>
    /// <exception cref="DiskException">The directory cannot be created.</exception>
    public BackupWriter(IDisk disk, string directory)
    {
        Lz4.Require();
        _disk = disk;
        Directory = directory;
        if (!DurableFiles.IsEmpty(disk, directory))
        {
            throw new DirectoryNotEmptyException(
                BackupManifest.IsUnfinished(disk, directory)
                    ? $"{directory} holds a backup that did not finish. Delete it, or name another directory."
                    : $"{directory} is not empty. Name an empty directory, or a new one, for each backup."
            );
        }

        DataDirectory.CreateDurably(disk, directory);
        DataDirectory.CreateDurably(disk, Path.Join(directory, NodeBackup.StorageFolder));
    }

    /// <summary>The directory.</summary>
    public string Directory { get; }

    /// <summary>Files written so far.</summary>
    public int Files => _files.Count;

    /// <summary>Bytes written so far.</summary>
    public long Bytes { get; private set; }

    /// <summary>Writes the next piece.</summary>
    /// <returns>False after the last piece: then call <see cref="Complete"/>.</returns>
    /// <exception cref="BackupException">The piece does not belong to a backup.</exception>
    public bool TryWritePiece(in BackupPiece piece)
    {
        switch (piece.Kind)
        {
            case BackupPieceKind.File:
                EndFile();
                BeginFile(Encoding.UTF8.GetString(piece.Bytes.Span));
                return true;
            case BackupPieceKind.Content when _file is not null:
                DurableFiles.Append(_file, piece.Bytes.Span, ref _offset);
                _checksum = Checksum.Append(_checksum, piece.Bytes.Span);
                Bytes += piece.Bytes.Length;
                return true;
            case BackupPieceKind.End:
                EndFile();
                _heading = Encoding.UTF8.GetString(piece.Bytes.Span);
                return false;
            default:
                throw new BackupException(
                    $"The node sent a piece of kind {(int)piece.Kind} where this version of Rookery expects "
                        + $"none. Use the `rookery` of the node's version."
                );
        }
    }

    /// <summary>Reads all files back, checks every block of every run, then writes the manifest.</summary>
    /// <param name="memory">Bounds the memory of the check.</param>
    /// <param name="io">Records the reads of the check.</param>
    /// <param name="time">The clock.</param>
    /// <exception cref="BackupException">The files do not read back as they were sent, or the node's data was already
    /// damaged.</exception>
    public void Complete(MemoryBudget memory, IIoRecorder io, TimeProvider time)
    {
        Invariant.Holds(_heading is not null, "a backup is completed after its last piece");
        _disk.SyncDirectory(Path.Join(Directory, NodeBackup.StorageFolder));
        if (_disk.Exists(Path.Join(Directory, ContentBackup.Folder)))
        {
            _disk.SyncDirectory(Path.Join(Directory, ContentBackup.Folder));
        }

        _disk.SyncDirectory(Directory);
        foreach (var expected in _files)
        {
            using var file = _disk.Open(Path.Join(Directory, expected.Name), DiskOpen.Read);
            if (file.Length != expected.Bytes || DurableFiles.Read(file, pieceRead: null) != expected.Checksum)
            {
                throw new BackupException(
                    $"{file.Path} does not read back as it was written: the device loses or changes data. "
                        + $"Use another device."
                );
            }
        }

        CheckRuns(memory, io, time);
        BackupManifest.Write(_disk, Directory, _heading, _files);
    }

    /// <summary>
    /// Hash and database of each content of an attachment that the node could not read. The backup lacks it, or has it
    /// with its damage. Known after the last piece.
    /// </summary>
    public UnreadableContents Unreadable => BackupManifest.UnreadableIn((_heading ?? "").Split('\n'));

    /// <summary>Whether the manifest exists.</summary>
    public bool IsComplete => _disk.Exists(Path.Join(Directory, BackupManifest.FileName));

    /// <inheritdoc/>
    public void Dispose() => _file?.Dispose();

    // The checksums of the transfer cannot detect damage on the node itself. This check does.
    private void CheckRuns(MemoryBudget memory, IIoRecorder io, TimeProvider time)
    {
        var options = new NodeOptions { DataDirectory = Directory }.ToStorageOptions(
            Path.Join(Directory, NodeBackup.StorageFolder)
        );
        using var storage = StorageEngine.Open(_disk, options with { IsReadOnly = true }, memory, io, time);
        while (!storage.ScrubOnce(BackupPiece.MaxBytes)) { }

        if (storage.Statistics().Damage is [var damage, ..])
        {
            throw new BackupException(
                $"The node's data is damaged, and so is this copy of it, which is not a backup: "
                    + $"{damage.Sentence} Restore an earlier backup, or export the readable data."
            );
        }
    }

    private void BeginFile(string name)
    {
        if (!BackupManifest.IsName(name))
        {
            throw new BackupException(
                $"The node sent a file named \"{name}\", which no backup has. Use the `rookery` of the node's version."
            );
        }

        string folder = Path.Join(Directory, ContentBackup.Folder);
        if (name.StartsWith(ContentBackup.Folder, StringComparison.Ordinal) && !_disk.Exists(folder))
        {
            DataDirectory.CreateDurably(_disk, folder);
        }

        _name = name;
        _file = _disk.Open(Path.Join(Directory, name), DiskOpen.CreateNew);
        _offset = 0;
        _checksum = Checksum.Start;
    }

    private void EndFile()
    {
        if (_file is null)
        {
            return;
        }

        _file.Sync();
        _file.Dispose();
        _file = null;
        _files.Add(new BackupFile(_name, _offset, Checksum.Finish(_checksum)));
    }
}
