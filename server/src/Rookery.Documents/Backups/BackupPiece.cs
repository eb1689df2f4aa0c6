namespace Rookery.Documents.Backups;

/// <summary>What a piece of a backup is. Numbers are part of the stream's format.</summary>
public enum BackupPieceKind : byte
{
    /// <summary>A file begins: its name within the backup, UTF-8.</summary>
    File = 1,

    /// <summary>The next bytes of the file that began last.</summary>
    Content = 2,

    /// <summary>That was all: the heading of the manifest. A backup without it is not whole.</summary>
    End = 3,
}

/// <summary>A piece of a backup on its way from a node to a directory.</summary>
/// <param name="Kind">What it is.</param>
/// <param name="Bytes">At most <see cref="MaxBytes"/>; valid until the next piece is asked for.</param>
public readonly record struct BackupPiece(BackupPieceKind Kind, ReadOnlyMemory<byte> Bytes)
{
    /// <summary>The most bytes of a piece.</summary>
    public const int MaxBytes = 256 << 10;
}
