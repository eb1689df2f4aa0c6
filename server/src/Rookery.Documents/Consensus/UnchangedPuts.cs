using System.Buffers;
using System.Buffers.Binary;
using Rookery.Documents.Apply;
using Rookery.Documents.Commands;
using Rookery.Documents.Databases;
using Rookery.Documents.Ids;
using Rookery.Storage;

namespace Rookery.Documents.Consensus;

/// <summary>
/// Removes from a command the puts that would store what the documents contain already, before the command is proposed.
/// So these puts take no etag, and no journal writes them.
/// </summary>
public static class UnchangedPuts
{
    /// <summary>
    /// Removes the puts of documents that have the put's content and expiration. A put stays if an earlier put of the
    /// command stays for the same id, or if the stored document cannot be read.
    /// </summary>
    /// <param name="command">A BulkPut that skips unchanged documents. The commands that must precede it are applied,
    /// and the caller has passed the read barrier since.</param>
    /// <param name="database">The database of the command.</param>
    /// <returns>The command without these puts, which the caller owns instead of <paramref name="command"/>; null if no
    /// operation is left.</returns>
    public static CommandBuffer? Remove(CommandBuffer command, Database database)
    {
        CommandBuffer? shorter = null;
        int left;
        try
        {
            using var reader = database.OpenReader();
            shorter = CopyChanged(command, reader, out left);
        }
        catch (DatabaseGoneException)
        {
            return command; // apply refuses it, with the reason
        }
        catch
        {
            command.Dispose();
            throw;
        }

        if (shorter is null)
        {
            return command;
        }

        command.Dispose();
        if (left > 0)
        {
            SetCount(shorter, left);
            return shorter;
        }

        shorter.Dispose();
        return null;
    }

    /// <summary>Copies the operations that stay. Returns null if all stay.</summary>
    private static CommandBuffer? CopyChanged(CommandBuffer command, in DatabaseReader reader, out int left)
    {
        Span<byte> lowerId = stackalloc byte[DocumentId.MaxBytes];
        CommandBuffer? shorter = null;
        var putIds = new HashSet<int>(); // hashes: if two ids have the same hash, a put stays that could be removed
        var written = command.Written.Span;
        var operations = new CommandReader(written);
        left = operations.OperationCount;
        int copied = 0;
        int start = written.Length - operations.Unread.Length;
        while (operations.TryReadOperation(out var operation))
        {
            int end = written.Length - operations.Unread.Length;
            if (operation.Kind == OperationKind.Put)
            {
                var hash = default(HashCode);
                var id = lowerId[..operation.Id.WriteLowerName(lowerId)];
                hash.AddBytes(id);
                if (putIds.Contains(hash.ToHashCode()) || !IsUnchanged(reader, id, operation))
                {
                    putIds.Add(hash.ToHashCode());
                }
                else
                {
                    shorter ??= CommandBuffer.Rent(command.Length);
                    shorter.Write(written[copied..start]);
                    copied = end;
                    left--;
                }
            }

            start = end;
        }

        shorter?.Write(written[copied..]);
        return shorter;
    }

    private static bool IsUnchanged(in DatabaseReader reader, ReadOnlySpan<byte> lowerId, in Operation put)
    {
        if (
            put.Id.Kind != CommandIdKind.Literal
            || put.Expected.Expectation != Expectation.Anything
            || put.ForcesRevision
        )
        {
            return false;
        }

        try
        {
            if (!reader.TryGetByLowerId(lowerId, out var stored))
            {
                return false;
            }

            using (stored)
            {
                return DocumentRows.IsUnchanged(stored, put);
            }
        }
        catch (DamagedException)
        {
            return false; // the command is refused before it reaches the log, or the row is repaired meanwhile
        }
    }

    private static void SetCount(CommandBuffer command, int operations)
    {
        var header = command.WrittenSpan;
        BinaryPrimitives.WriteInt32LittleEndian(header[CommandFormat.OperationCountOffset..], operations);
        if ((header[CommandFormat.FlagsOffset] & CommandFormat.HeaderHasKey) != 0)
        {
            header[(CommandFormat.FixedHeaderBytes + IdempotencyKey.Length)..CommandFormat.KeyedHeaderBytes].Clear();
            RequestHash.Write(command);
        }
    }
}
