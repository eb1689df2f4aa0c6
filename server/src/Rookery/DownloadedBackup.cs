using Rookery.Data;
using Rookery.Documents.Backups;

namespace Rookery;

/// <summary>A backup in one file, as a browser downloads it from `GET /admin/node/backup`.</summary>
internal sealed class DownloadedBackup : IAsyncDisposable
{
    private readonly string _path;
    private readonly Stream _file;
    private readonly byte[] _buffer = new byte[BackupPiece.MaxBytes];

    private DownloadedBackup(string path, Stream file)
    {
        _path = path;
        _file = file;
    }

    /// <summary>Opens a file and checks that it begins as a backup does.</summary>
    /// <exception cref="BackupException">The file is not a backup of this format.</exception>
    public static async Task<DownloadedBackup> OpenAsync(string path, CancellationToken cancellation)
    {
        var backup = new DownloadedBackup(path, InputFile.Open(path));
        try
        {
            await BackupWire.ReadPreambleAsync(backup._file, cancellation);
            return backup;
        }
        catch (BackupException)
        {
            await backup.DisposeAsync();
            throw new BackupException(
                $"{path} is not a backup that this version of Rookery reads. Name a file that \"Back up now\" of the "
                    + "dashboard downloaded, and use the `rookery` of that node's version or a newer one."
            );
        }
    }

    /// <summary>Reads the next piece, which is valid until the next call.</summary>
    /// <exception cref="BackupException">The file ends too early, or its bytes changed.</exception>
    public async Task<BackupPiece> NextAsync(CancellationToken cancellation)
    {
        try
        {
            return await BackupWire.ReadPieceAsync(_file, _buffer, cancellation);
        }
        catch (BackupException)
        {
            // The messages of BackupWire are about a connection, not about a file.
            throw new BackupException(
                $"{_path} is not a complete backup: it ends too early, or bytes of it changed. Download another one."
            );
        }
    }

    /// <summary>Checks that nothing follows the last piece.</summary>
    /// <exception cref="BackupException">The file is longer than the backup.</exception>
    public async Task EndAsync(CancellationToken cancellation)
    {
        if (await _file.ReadAsync(_buffer.AsMemory(0, 1), cancellation) > 0)
        {
            throw new BackupException($"{_path} has bytes after the end of the backup. Download another one.");
        }
    }

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => _file.DisposeAsync();
}
