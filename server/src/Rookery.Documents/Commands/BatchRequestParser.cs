using System.Text.Unicode;
using Rookery.Documents.Ids;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Documents.Patching;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>Encodes the bodies of bulk_docs, PATCH docs and merge patches as commands.</summary>
public static class BatchRequestParser
{
    /// <summary>Parses the body of bulk_docs.</summary>
    /// <param name="body">The whole body.</param>
    /// <param name="database">The database's number.</param>
    /// <param name="key">The request's idempotency key, or none.</param>
    /// <param name="maxBatchBytes">Maximum length of the body and of the command.</param>
    /// <param name="batch">The command; the caller owns its buffer.</param>
    /// <param name="error">The reason for a refusal.</param>
    /// <param name="formatLevel">Bounds the command formats that may be written: see <see cref="FormatLevel"/>.</param>
    /// <param name="hasGuards">Whether atomic guards protect the documents of a cluster-wide transaction.</param>
    public static bool TryParse(
        ReadOnlySpan<byte> body,
        uint database,
        IdempotencyKey key,
        int maxBatchBytes,
        out ParsedBatch batch,
        out InputError error,
        int formatLevel = FormatLevel.Oldest,
        bool hasGuards = true
    )
    {
        batch = default;
        if (!IsAcceptable(body, maxBatchBytes, out error))
        {
            return false;
        }

        if (ClusterTransactionParser.IsClusterWide(body))
        {
            return ClusterTransactionParser.TryParse(
                body,
                database,
                key,
                hasGuards,
                maxBatchBytes,
                out batch,
                out error
            );
        }

        using var writer = new BatchWriter(CommandKind.Batch, database, key, sizeHint: body.Length);
        if (!TryReadBody(body, writer, maxBatchBytes, formatLevel, takesContents: false, out error))
        {
            return false;
        }

        int count = writer.Count;
        batch = new ParsedBatch(writer.Complete(), count);
        return true;
    }

    /// <summary>
    /// Parses the commands of a batch with attachments. The contents follow in the request: the caller passes them to
    /// <see cref="BatchWriter.SetContents"/>, and completes the batch.
    /// </summary>
    /// <param name="body">The commands.</param>
    /// <param name="database">The database's number.</param>
    /// <param name="key">The request's idempotency key, or none.</param>
    /// <param name="maxBatchBytes">Maximum length of the body and of the encoded command.</param>
    /// <param name="writer">The batch; the caller disposes it. Null if it was refused.</param>
    /// <param name="error">The reason for a refusal.</param>
    /// <param name="formatLevel">Bounds the command formats that may be written: see <see cref="FormatLevel"/>.</param>
    public static bool TryParseBeforeContents(
        ReadOnlySpan<byte> body,
        uint database,
        IdempotencyKey key,
        int maxBatchBytes,
        out BatchWriter? writer,
        out InputError error,
        int formatLevel
    )
    {
        writer = null;
        if (!IsAcceptable(body, maxBatchBytes, out error))
        {
            return false;
        }

        if (ClusterTransactionParser.IsClusterWide(body))
        {
            error = new InputError(
                InputErrorCode.NotSupported,
                "Attachments in a cluster-wide transaction are not supported",
                default,
                "Store them in a batch of their own"
            );
            return false;
        }

        var parsed = new BatchWriter(CommandKind.Batch, database, key, sizeHint: body.Length);
        if (!TryReadBody(body, parsed, maxBatchBytes, formatLevel, takesContents: true, out error))
        {
            parsed.Dispose();
            return false;
        }

        writer = parsed;
        return true;
    }

    private static bool TryReadBody(
        ReadOnlySpan<byte> body,
        BatchWriter writer,
        int maxBatchBytes,
        int formatLevel,
        bool takesContents,
        out InputError error
    )
    {
        using DocumentParser parser = DocumentParser.Rent();
        using var element = new BatchElement(parser, writer, maxBatchBytes, formatLevel, takesContents);
        parser.Keys.Reset();
        var scanner = new JsonScanner(body, position: 0, parser.Keys);
        bool isRead = element.TryReadBody(ref scanner);
        error = isRead ? default : element.Explain(scanner);
        return isRead;
    }

    /// <summary>
    /// Parses the body of PATCH docs or PATCH json-patch into a batch of one patch, which returns the whole document.
    /// </summary>
    /// <param name="body">The whole body.</param>
    /// <param name="id">The document's id.</param>
    /// <param name="expected">The document's expected change vector.</param>
    /// <param name="skipOnMismatch">Whether a mismatch skips the patch instead of refusing it.</param>
    /// <param name="database">The database's number.</param>
    /// <param name="key">The request's idempotency key, or none.</param>
    /// <param name="batch">The command; its result contains the whole document. The caller owns its buffer.</param>
    /// <param name="error">The reason for a refusal.</param>
    /// <param name="formatLevel">Bounds the command formats that may be written: see <see cref="FormatLevel"/>.</param>
    /// <param name="form">The form of the body.</param>
    public static bool TryParsePatch(
        ReadOnlySpan<byte> body,
        ReadOnlySpan<byte> id,
        ExpectedChangeVector expected,
        bool skipOnMismatch,
        uint database,
        IdempotencyKey key,
        out ParsedBatch batch,
        out InputError error,
        int formatLevel = FormatLevel.Oldest,
        PatchForm form = PatchForm.Script
    )
    {
        batch = default;
        if (!DocumentId.TryValidate(id, out error) || !IsUtf8(body, out error))
        {
            return false;
        }

        using DocumentParser parser = DocumentParser.Rent();
        using var writer = new BatchWriter(CommandKind.Batch, database, key);
        using var element = new BatchElement(parser, writer, DocumentLimits.MaxBatchBytes, formatLevel);
        parser.Keys.Reset();
        var scanner = new JsonScanner(body, position: 0, parser.Keys);
        bool isRead =
            form == PatchForm.Script
                ? element.TryReadPatch(ref scanner, id, expected, skipOnMismatch)
                : element.TryReadJsonPatch(ref scanner, id, expected, skipOnMismatch, form == PatchForm.JsonPatch);
        if (!isRead || !scanner.TryEnd())
        {
            error = element.Explain(scanner);
            return false;
        }

        batch = new ParsedBatch(writer.Complete(), Count: 1);
        return true;
    }

    /// <summary>Parses an RFC 7396 merge patch into a batch of one patch.</summary>
    /// <param name="body">The merge patch, an object.</param>
    /// <param name="id">The document's id.</param>
    /// <param name="expected">The document's expected change vector.</param>
    /// <param name="skipOnMismatch">Whether a mismatch skips the patch instead of refusing it.</param>
    /// <param name="createIfMissing">Whether the patch is applied to an empty document if none exists.</param>
    /// <param name="returnsDocument">Whether the result must contain the whole document.</param>
    /// <param name="database">The database's number.</param>
    /// <param name="key">The request's idempotency key, or none.</param>
    /// <param name="batch">The command; the caller owns its buffer.</param>
    /// <param name="error">The reason for a refusal.</param>
    public static bool TryParseMergePatch(
        ReadOnlySpan<byte> body,
        ReadOnlySpan<byte> id,
        ExpectedChangeVector expected,
        bool skipOnMismatch,
        bool createIfMissing,
        bool returnsDocument,
        uint database,
        IdempotencyKey key,
        out ParsedBatch batch,
        out InputError error
    )
    {
        batch = default;
        if (!DocumentId.TryValidate(id, out error) || !IsUtf8(body, out error))
        {
            return false;
        }

        using DocumentParser parser = DocumentParser.Rent();
        parser.Keys.Reset();
        var scanner = new JsonScanner(body, position: 0, parser.Keys);
        if (!parser.TryRead(ref scanner, MetadataUse.MergePatch, out ParsedDocument patch) || !scanner.TryEnd())
        {
            error = parser.Explain(scanner);
            return false;
        }

        var request = new PatchRequest(FormatLevel.Oldest);
        request.SetMerge(patch, createIfMissing);
        using var writer = new BatchWriter(CommandKind.Batch, database, key);
        writer.Patch(id, expected, request.Program, returnsDocument, skipOnMismatch);
        request.Release();
        batch = new ParsedBatch(writer.Complete(), Count: 1);
        return true;
    }

    private static bool IsAcceptable(ReadOnlySpan<byte> body, int maxBatchBytes, out InputError error)
    {
        if (body.Length > maxBatchBytes)
        {
            error = TooLarge(body.Length, maxBatchBytes);
            return false;
        }

        return IsUtf8(body, out error);
    }

    private static bool IsUtf8(ReadOnlySpan<byte> body, out InputError error)
    {
        bool isValid = Utf8.IsValid(body);
        error = isValid
            ? default
            : InputErrors.InJson(InputErrorCode.InvalidUtf8, body, InputErrors.FirstInvalidUtf8(body));
        return isValid;
    }

    private static InputError TooLarge(int bytes, int maxBytes)
    {
        var (actual, max) = Amount.BytesOver(bytes, maxBytes);
        return new InputError(
            InputErrorCode.BatchTooLarge,
            $"The batch takes {actual}, and at most {max} are allowed",
            new InputPlace(maxBytes),
            "Send several batches, or use bulk insert"
        );
    }
}

/// <summary>An encoded batch, ready to be proposed.</summary>
/// <param name="Command">The encoded command.</param>
/// <param name="Count">Number of operations.</param>
public readonly record struct ParsedBatch(CommandBuffer Command, int Count)
{
    /// <summary>Whether the command is a <see cref="CommandKind.ClusterTransaction"/>.</summary>
    public bool IsClusterWide { get; init; }
}
