namespace Rookery.Documents.Backups;

/// <summary>The kind of a piece of a backup. Numbers are part of the stream's format.</summary>
public enum BackupPieceKind : byte
{
    /// <summary>Starts a file; contains its name within the backup, UTF-8.</summary>
    File = 1,

    /// <summary>The next bytes of the current file.</summary>
    Content = 2,

    /// <summary>Ends the backup; contains the heading of the manifest. A backup without it is incomplete.</summary>
    End = 3,
}

/// <summary>A piece of a backup in transfer from a node to a directory.</summary>
/// <param name="Kind">The kind of the piece.</param>
/// <param name="Bytes">At most <see cref="MaxBytes"/>; valid until the next piece is read.</param>
public readonly record struct BackupPiece(BackupPieceKind Kind, ReadOnlyMemory<byte> Bytes)
{
    /// <summary>Maximum length of a piece.</summary>
    public const int MaxBytes = 256 << 10;
}
