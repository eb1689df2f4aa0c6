using System.Buffers;
using System.Buffers.Binary;
using System.Globalization;
using Rookery.Documents.Attachments;
using Rookery.Platform;

namespace Rookery.Documents.Backups;

/// <summary>
/// The contents of attachments in a backup: files <c>attachments/N</c> of about a gibibyte each. A file begins with
/// <see cref="Preamble"/>; for each content follow <c>[database u32][hash 32 bytes][length i64]</c> and the bytes of
/// its file (<see cref="ContentFormat"/>). Integers are little-endian.
/// </summary>
internal static class ContentBackup
{
    /// <summary>Folder of the files within a backup.</summary>
    public const string Folder = "attachments";

    private const int HeadBytes = sizeof(uint) + ContentHash.Length + sizeof(long);
    private const int EndPieceBytes = 4096;
    private const long BytesPerFile = 1L << 30;

    private static ReadOnlySpan<byte> Preamble => "rookery contents 1\n"u8;

    /// <summary>Returns the name of a file.</summary>
    public static string NameOf(int number) => string.Create(CultureInfo.InvariantCulture, $"{Folder}/{number}");

    /// <summary>Writes the contents into a sequence of files.</summary>
    /// <param name="contents">The contents of the node. The caller prevents their deletion meanwhile.</param>
    /// <param name="unreadable">Receives each content of which a part cannot be read. The backup contains it with its
    /// damage, or lacks it if it cannot be opened.</param>
    /// <param name="unlisted">Receives each directory that cannot be listed, so that its contents are left out.</param>
    /// <returns>The files, in order.</returns>
    public static IEnumerable<ContentBackupFile> Write(
        AttachmentContents contents,
        Action<ContentPlace> unreadable,
        Action<string> unlisted
    )
    {
        using var places = contents.Files.List(unlisted).GetEnumerator();
        bool isMore = places.MoveNext();
        for (int number = 1; isMore; number++)
        {
            yield return new ContentBackupFile(NameOf(number), WriteFile());
        }

        // Each piece is valid until the next one.
        IEnumerable<ReadOnlyMemory<byte>> WriteFile()
        {
            var pending = new ArrayBufferWriter<byte>(BackupPiece.MaxBytes);
            pending.Write(Preamble);
            for (long written = 0; isMore && written < BytesPerFile; isMore = places.MoveNext())
            {
                foreach (var piece in WriteContent(contents, places.Current, pending, unreadable))
                {
                    yield return piece;
                    written += piece.Length;
                }
            }

            yield return pending.WrittenMemory;
        }
    }

    /// <summary>
    /// Reads a file of a backup once, and creates the files of its contents, synced. The caller compares the checksum:
    /// a medium that fails may return other bytes when it is read again.
    /// </summary>
    /// <param name="source">The file.</param>
    /// <param name="create">Creates the file of a content.</param>
    /// <returns>CRC-32C of the bytes that were read.</returns>
    /// <exception cref="BackupException">The file is damaged or of another version.</exception>
    public static uint Restore(IDiskFile source, Func<ContentPlace, IDiskFile> create)
    {
        byte[] buffer = new byte[BackupPiece.MaxBytes];
        byte[] head = new byte[HeadBytes];
        uint checksum = Checksum.Append(Checksum.Start, Preamble);
        foreach (var (place, start, length) in Read(source))
        {
            WriteHead(head, place, length);
            checksum = Checksum.Append(checksum, head);
            using var file = create(place);
            for (long at = 0; at < length; )
            {
                int read = source.Read(buffer.AsSpan(0, (int)Math.Min(buffer.Length, length - at)), start + at);
                var piece = read > 0 ? buffer.AsSpan(0, read) : throw Damaged(source, start);
                checksum = Checksum.Append(checksum, piece);
                DurableFiles.Append(file, piece, ref at);
            }

            file.Sync();
        }

        return Checksum.Finish(checksum);
    }

    /// <summary>Returns the contents in a file of a backup, and where the bytes of their files are in it.</summary>
    /// <exception cref="BackupException">The file is damaged or of another version.</exception>
    public static IEnumerable<(ContentPlace Place, long Start, long Length)> Read(IDiskFile source)
    {
        byte[] head = new byte[HeadBytes];
        if (
            source.Read(head.AsSpan(0, Preamble.Length), 0) < Preamble.Length
            || !head.AsSpan(0, Preamble.Length).SequenceEqual(Preamble)
        )
        {
            throw Damaged(source, 0);
        }

        long end = source.Length;
        for (long offset = Preamble.Length; offset < end; )
        {
            int read = source.Read(head, offset);
            long length = BinaryPrimitives.ReadInt64LittleEndian(head.AsSpan(sizeof(uint) + ContentHash.Length));
            if (read < HeadBytes || length < 0 || length > end - offset - HeadBytes)
            {
                throw Damaged(source, offset);
            }

            var place = new ContentPlace(
                BinaryPrimitives.ReadUInt32LittleEndian(head),
                ContentHash.Read(head.AsSpan(sizeof(uint)))
            );
            yield return (place, offset + HeadBytes, length);
            offset += HeadBytes + length;
        }
    }

    // Returns the full pieces. The rest of the content, shorter than a piece, stays in the buffer of pending bytes.
    private static IEnumerable<ReadOnlyMemory<byte>> WriteContent(
        AttachmentContents contents,
        ContentPlace place,
        ArrayBufferWriter<byte> pending,
        Action<ContentPlace> unreadable
    )
    {
        ContentFile file;
        try
        {
            file = contents.Open(place.Database, place.Hash);
        }
        catch (Exception failure) when (failure is ContentDamagedException or DiskException)
        {
            unreadable(place); // the next open may succeed, so a later check of the rows would not find it
            yield break;
        }

        using (file)
        {
            if (pending.WrittenCount + HeadBytes > BackupPiece.MaxBytes)
            {
                yield return pending.WrittenMemory;
                pending.ResetWrittenCount();
            }

            WriteHead(pending.GetSpan(HeadBytes), place, ContentFormat.FileLength(file.Size));
            pending.Advance(HeadBytes);
            for (int chunk = 0; chunk < file.ChunkCount; chunk++)
            {
                if (pending.WrittenCount + ContentFile.ChunkBytes > BackupPiece.MaxBytes)
                {
                    yield return pending.WrittenMemory;
                    pending.ResetWrittenCount();
                }

                AppendChunk(file, chunk, pending, place, unreadable);
            }

            for (long at = file.Size, end = ContentFormat.FileLength(at); at < end; at += EndPieceBytes)
            {
                if (pending.WrittenCount + EndPieceBytes > BackupPiece.MaxBytes)
                {
                    yield return pending.WrittenMemory;
                    pending.ResetWrittenCount();
                }

                AppendEnd(file, at, (int)Math.Min(EndPieceBytes, end - at), pending, place, unreadable);
            }
        }
    }

    private static void AppendChunk(
        ContentFile file,
        int chunk,
        ArrayBufferWriter<byte> pending,
        ContentPlace place,
        Action<ContentPlace> unreadable
    )
    {
        var span = pending.GetSpan(ContentFile.ChunkBytes);
        int length = file.LengthOf(chunk);
        span[..length].Clear();
        try
        {
            file.ReadChunk(chunk, span);
        }
        catch (Exception failure) when (failure is ContentDamagedException or DiskException)
        {
            unreadable(place); // its checksum shows the damage wherever the backup is restored
        }

        pending.Advance(length);
    }

    private static void AppendEnd(
        ContentFile file,
        long offset,
        int length,
        ArrayBufferWriter<byte> pending,
        ContentPlace place,
        Action<ContentPlace> unreadable
    )
    {
        var span = pending.GetSpan(length)[..length];
        span.Clear();
        try
        {
            if (file.ReadEnd(span, offset) < length)
            {
                unreadable(place);
            }
        }
        catch (DiskException)
        {
            unreadable(place); // without its end, the content is refused wherever the backup is restored
        }

        pending.Advance(length);
    }

    private static void WriteHead(Span<byte> head, ContentPlace place, long length)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(head, place.Database);
        place.Hash.Write(head[sizeof(uint)..]);
        BinaryPrimitives.WriteInt64LittleEndian(head[(sizeof(uint) + ContentHash.Length)..], length);
    }

    private static BackupException Damaged(IDiskFile file, long offset) =>
        new(
            $"{file.Path} is incomplete, damaged at byte {offset}, or of another version of Rookery. Restore with the "
                + "version that took the backup, or use another backup."
        );
}

/// <summary>A file of contents in a backup.</summary>
/// <param name="Name">Its name within the backup.</param>
/// <param name="Pieces">Its bytes, to be read once, before the next file.</param>
internal readonly record struct ContentBackupFile(string Name, IEnumerable<ReadOnlyMemory<byte>> Pieces);
