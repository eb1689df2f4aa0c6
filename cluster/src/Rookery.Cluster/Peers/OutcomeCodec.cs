using System.Buffers;
using Rookery.Documents.Attachments;
using Rookery.Documents.Commands;
using Rookery.Documents.Consensus;
using OperationStatus = Rookery.Documents.Consensus.OperationStatus;

namespace Rookery.Cluster.Peers;

/// <summary>
/// The wire format of the outcome of a forwarded command. Applied: <c>[0][i64 index][i64 log time][u32 results]</c>;
/// then for each result <c>[u8 status][i64 etag][i64 last modified][i64 low][i64 high][text id][text collection][u32
/// document length + 1, or 0 for none][document]</c>, and if the highest bit of the status is set <c>[hash 32
/// bytes][i64 size][text content type]</c>; then, if the sender asked for a receipt, <c>[i64 bytes][u32
/// commands][u32 members]</c> and for each member <c>[text tag][i64 microseconds]</c>. Refused: <c>[1][u8 kind][u32
/// operation + 1][text message, document id, expected, actual, database]</c>; then, for a conflict of a cluster-wide
/// transaction, <c>[u32 violations]</c> and for each <c>[text id][u8 1 for a document][i64 expected][i64 actual]</c>.
/// </summary>
internal static class OutcomeCodec
{
    private const byte Applied = 0;
    private const byte Refused = 1;
    private const int AppliedHeadBytes = 1 + (2 * sizeof(long)) + sizeof(int);
    private const int ResultHeadBytes = 1 + (4 * sizeof(long)) + (3 * sizeof(int));
    private const int HasAttachment = 0x80; // only after commands of FormatLevel.Attachments
    private const int AttachmentHeadBytes = ContentHash.Length + sizeof(long);
    private const int ReceiptHeadBytes = sizeof(long) + (2 * sizeof(int));
    private const int RefusedHeadBytes = 2 + sizeof(int);
    private const int ViolationBytes = 1 + (2 * sizeof(long));

    /// <summary>Returns the number of bytes that <see cref="Write"/> writes.</summary>
    public static long SizeOf(in CommandOutcome outcome)
    {
        if (outcome.Rejection is { } rejection)
        {
            return RefusedHeadBytes
                + WireWriter.SizeOf(rejection.Message)
                + WireWriter.SizeOf(rejection.DocumentId)
                + WireWriter.SizeOf(rejection.Expected)
                + WireWriter.SizeOf(rejection.Actual)
                + WireWriter.SizeOf(rejection.Database)
                + SizeOfViolations(rejection);
        }

        long bytes = AppliedHeadBytes;
        for (int i = 0; i < outcome.Count; i++)
        {
            var result = outcome[i];

            // The lengths of the two texts are part of their SizeOf.
            bytes +=
                ResultHeadBytes
                - (2 * sizeof(int))
                + WireWriter.SizeOf(result.Id)
                + WireWriter.SizeOf(result.Collection)
                + (result.Document?.Length ?? 0)
                + (
                    result.Attachment is { } attachment
                        ? AttachmentHeadBytes + WireWriter.SizeOf(attachment.ContentType)
                        : 0
                );
        }

        return bytes + SizeOf(outcome.Receipt);
    }

    /// <summary>Writes an outcome. The caller still owns its documents.</summary>
    public static void Write(Span<byte> destination, in CommandOutcome outcome)
    {
        var writer = new WireWriter(destination);
        if (outcome.Rejection is { } rejection)
        {
            WriteRejection(ref writer, rejection);
            return;
        }

        writer.PutByte(Applied);
        writer.PutInt64(outcome.Index);
        writer.PutInt64(outcome.LogTimeTicks);
        writer.PutInt32(outcome.Count);
        for (int i = 0; i < outcome.Count; i++)
        {
            WriteResult(ref writer, outcome[i]);
        }

        if (outcome.Receipt is { } receipt)
        {
            WriteReceipt(ref writer, receipt);
        }
    }

    /// <summary>Reads an outcome. The caller owns its documents.</summary>
    /// <exception cref="PeerProtocolException">The outcome is malformed.</exception>
    public static CommandOutcome Read(ReadOnlySpan<byte> body)
    {
        var reader = new WireReader(body);
        switch (reader.TakeByte())
        {
            case Applied:
                return ReadApplied(ref reader);
            case Refused:
                var rejection = ReadRejection(ref reader);
                reader.ExpectEnd();
                return new CommandOutcome(rejection);
            default:
                throw new PeerProtocolException("An outcome is neither applied nor refused.");
        }
    }

    /// <summary>Disposes the documents of an outcome that has no reader.</summary>
    public static void DisposeDocuments(in CommandOutcome outcome)
    {
        for (int i = 0; i < outcome.Count; i++)
        {
            outcome[i].Document?.Dispose();
        }
    }

    private static void WriteResult(ref WireWriter writer, in OperationResult result)
    {
        writer.PutByte((byte)((int)result.Status | (result.Attachment is null ? 0 : HasAttachment)));
        writer.PutInt64(result.Etag);
        writer.PutInt64(result.LastModifiedTicks);
        writer.PutInt64(result.Low);
        writer.PutInt64(result.High);
        writer.PutText(result.Id);
        writer.PutText(result.Collection);
        writer.PutInt32(result.Document is null ? 0 : result.Document.Length + 1);
        if (result.Document is { } document)
        {
            writer.Put(document.Written.Span);
        }

        if (result.Attachment is { } attachment)
        {
            Span<byte> hash = stackalloc byte[ContentHash.Length];
            attachment.Hash.Write(hash);
            writer.Put(hash);
            writer.PutInt64(attachment.Size);
            writer.PutText(attachment.ContentType);
        }
    }

    private static long SizeOf(CommitReceipt? receipt) =>
        receipt is null
            ? 0
            : ReceiptHeadBytes
                + receipt.Synced.Sum(static member => (long)WireWriter.SizeOf(member.Tag) + sizeof(long));

    private static void WriteReceipt(ref WireWriter writer, CommitReceipt receipt)
    {
        writer.PutInt64(receipt.JournalBytes);
        writer.PutInt32(receipt.Commands);
        writer.PutInt32(receipt.Synced.Count);
        foreach (var member in receipt.Synced)
        {
            writer.PutText(member.Tag);
            writer.PutInt64(member.Microseconds);
        }
    }

    private static CommitReceipt ReadReceipt(ref WireReader reader)
    {
        long bytes = reader.TakeInt64();
        int commands = reader.TakeInt32();
        int count = reader.TakeInt32();
        if (count > reader.Remaining / (sizeof(int) + sizeof(long)))
        {
            throw new PeerProtocolException("A receipt ends before its members.");
        }

        var synced = new SyncedMember[count];
        for (int i = 0; i < count; i++)
        {
            synced[i] = new SyncedMember(reader.TakeText() ?? string.Empty, reader.TakeInt64());
        }

        return new CommitReceipt(bytes, commands, synced);
    }

    private static void WriteRejection(ref WireWriter writer, Rejection rejection)
    {
        writer.PutByte(Refused);
        writer.PutByte((byte)rejection.Kind);
        writer.PutInt32(rejection.Operation + 1);
        writer.PutText(rejection.Message);
        writer.PutText(rejection.DocumentId);
        writer.PutText(rejection.Expected);
        writer.PutText(rejection.Actual);
        writer.PutText(rejection.Database);
        if (rejection.Kind != RejectionKind.ClusterTransactionConflict)
        {
            return;
        }

        writer.PutInt32(rejection.Violations?.Count ?? 0);
        foreach (var violation in rejection.Violations ?? [])
        {
            writer.PutText(violation.Id);
            writer.PutByte(violation.IsDocument ? (byte)1 : (byte)0);
            writer.PutInt64(violation.Expected);
            writer.PutInt64(violation.Actual);
        }
    }

    private static long SizeOfViolations(Rejection rejection)
    {
        if (rejection.Kind != RejectionKind.ClusterTransactionConflict)
        {
            return 0;
        }

        long bytes = sizeof(int);
        foreach (var violation in rejection.Violations ?? [])
        {
            bytes += WireWriter.SizeOf(violation.Id) + ViolationBytes;
        }

        return bytes;
    }

    private static ConcurrencyViolation[]? ReadViolations(ref WireReader reader)
    {
        int count = reader.TakeInt32();
        if (count > Rejection.MaxViolations)
        {
            throw new PeerProtocolException("A refusal lists more violations than there may be.");
        }

        if (count == 0)
        {
            return null;
        }

        var violations = new ConcurrencyViolation[count];
        foreach (ref var violation in violations.AsSpan())
        {
            violation = new ConcurrencyViolation(
                reader.TakeText() ?? string.Empty,
                reader.TakeByte() != 0,
                reader.TakeSignedInt64(),
                reader.TakeInt64()
            );
        }

        return violations;
    }

    private static CommandOutcome ReadApplied(ref WireReader reader)
    {
        long index = reader.TakeInt64();
        long logTicks = reader.TakeInt64();
        int count = reader.TakeInt32();
        if (count > reader.Remaining / ResultHeadBytes)
        {
            throw new PeerProtocolException("An outcome ends before its results.");
        }

        var results = new OperationResult[count];
        CommitReceipt? receipt = null;
        try
        {
            for (int i = 0; i < count; i++)
            {
                results[i] = ReadResult(ref reader);
            }

            receipt = reader.Remaining > 0 ? ReadReceipt(ref reader) : null;
            reader.ExpectEnd();
        }
        catch (PeerProtocolException)
        {
            DisposeDocuments(new CommandOutcome(index, logTicks, results));
            throw;
        }

        var applied =
            count == 1 ? new CommandOutcome(index, logTicks, results[0]) : new CommandOutcome(index, logTicks, results);
        return applied with { Receipt = receipt };
    }

    private static OperationResult ReadResult(ref WireReader reader)
    {
        byte status = reader.TakeByte();
        var result = new OperationResult
        {
            Status = (OperationStatus)(status & ~HasAttachment),
            Etag = reader.TakeInt64(),
            LastModifiedTicks = reader.TakeInt64(),
            Low = reader.TakeSignedInt64(),
            High = reader.TakeSignedInt64(),
            Id = reader.TakeText(),
            Collection = reader.TakeText(),
        };
        int length = reader.TakeInt32() - 1;
        if (!Enum.IsDefined(result.Status))
        {
            throw new PeerProtocolException("A result has a status that is not known here.");
        }

        if (length >= 0)
        {
            result = result with { Document = Copy(reader.Take(length)) };
        }

        if ((status & HasAttachment) == 0)
        {
            return result;
        }

        try
        {
            var hash = ContentHash.Read(reader.Take(ContentHash.Length));
            long size = reader.TakeInt64();
            return result with { Attachment = new CopiedAttachment(hash, reader.TakeText() ?? string.Empty, size) };
        }
        catch (PeerProtocolException)
        {
            result.Document?.Dispose(); // the caller does not have it yet
            throw;
        }
    }

    private static Rejection ReadRejection(ref WireReader reader)
    {
        var kind = (RejectionKind)reader.TakeByte();
        if (!Enum.IsDefined(kind))
        {
            throw new PeerProtocolException("A refusal is of a kind that is not known here.");
        }

        int operation = reader.TakeInt32() - 1;
        var rejection = new Rejection(kind, reader.TakeText() ?? string.Empty)
        {
            Operation = operation,
            DocumentId = reader.TakeText(),
            Expected = reader.TakeText(),
            Actual = reader.TakeText(),
            Database = reader.TakeText(),
        };
        return kind == RejectionKind.ClusterTransactionConflict
            ? rejection with
            {
                Violations = ReadViolations(ref reader),
            }
            : rejection;
    }

    private static CommandBuffer Copy(ReadOnlySpan<byte> document)
    {
        var buffer = CommandBuffer.Rent(document.Length);
        buffer.Write(document);
        return buffer;
    }
}
