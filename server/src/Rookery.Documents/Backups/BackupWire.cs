using System.Buffers;
using System.Buffers.Binary;
using Rookery.Platform;

namespace Rookery.Documents.Backups;

/// <summary>
/// Encodes pieces of a backup for a connection: <see cref="Preamble"/>, then <c>[u8 kind][u32 length][u32 CRC-32C of
/// kind, length and bytes][bytes]</c> for each piece, little-endian.
/// </summary>
public static class BackupWire
{
    private const int HeaderBytes = 9;
    private const int ChecksumOffset = 5;

    /// <summary>The first bytes of the stream; they name the version of the format.</summary>
    public static ReadOnlySpan<byte> Preamble => "rookery backup stream 1\n"u8;

    /// <summary>Writes a piece.</summary>
    public static void Write(IBufferWriter<byte> output, in BackupPiece piece)
    {
        Invariant.Holds(piece.Bytes.Length <= BackupPiece.MaxBytes, "a reader accepts each piece of a backup");
        Span<byte> header = output.GetSpan(HeaderBytes);
        header[0] = (byte)piece.Kind;
        BinaryPrimitives.WriteInt32LittleEndian(header[1..], piece.Bytes.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(
            header[ChecksumOffset..],
            ChecksumOf(header[..ChecksumOffset], piece.Bytes.Span)
        );
        output.Advance(HeaderBytes);
        output.Write(piece.Bytes.Span);
    }

    /// <summary>Reads and checks the preamble.</summary>
    /// <exception cref="BackupException">The stream begins with other bytes.</exception>
    public static async ValueTask ReadPreambleAsync(Stream input, CancellationToken cancellationToken)
    {
        byte[] bytes = new byte[Preamble.Length];
        await ReadAsync(input, bytes, cancellationToken);
        if (!Preamble.SequenceEqual(bytes))
        {
            throw new BackupException(
                "What the node sends is not a backup that this version of Rookery reads. Use the `rookery` of "
                    + "the node's version."
            );
        }
    }

    /// <summary>
    /// Reads a piece into <paramref name="buffer"/>, which has <see cref="BackupPiece.MaxBytes"/> bytes.
    /// </summary>
    /// <exception cref="BackupException">The stream ended early, or its checksum does not match.</exception>
    public static async ValueTask<BackupPiece> ReadPieceAsync(
        Stream input,
        Memory<byte> buffer,
        CancellationToken cancellationToken
    )
    {
        byte[] header = new byte[HeaderBytes];
        await ReadAsync(input, header, cancellationToken);
        int length = BinaryPrimitives.ReadInt32LittleEndian(header.AsSpan(1));
        if (length is < 0 or > BackupPiece.MaxBytes)
        {
            throw ChecksumMismatch();
        }

        var bytes = buffer[..length];
        await ReadAsync(input, bytes, cancellationToken);
        return
            ChecksumOf(header.AsSpan(0, ChecksumOffset), bytes.Span)
            == BinaryPrimitives.ReadUInt32LittleEndian(header.AsSpan(ChecksumOffset))
            ? new BackupPiece((BackupPieceKind)header[0], bytes)
            : throw ChecksumMismatch();
    }

    private static async ValueTask ReadAsync(Stream input, Memory<byte> bytes, CancellationToken cancellationToken)
    {
        if (
            await input.ReadAtLeastAsync(bytes, bytes.Length, throwOnEndOfStream: false, cancellationToken)
            < bytes.Length
        )
        {
            throw new BackupException(
                "The node ended the connection before the backup was complete; its log says why. Take another backup."
            );
        }
    }

    private static uint ChecksumOf(ReadOnlySpan<byte> header, ReadOnlySpan<byte> bytes) =>
        Checksum.Finish(Checksum.Append(Checksum.Append(Checksum.Start, header), bytes));

    private static BackupException ChecksumMismatch() =>
        new("Bytes of the backup changed on their way from the node. Take another backup.");
}
