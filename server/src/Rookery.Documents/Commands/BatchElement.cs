using Rookery.Documents.Ids;
using Rookery.Documents.Json;
using Rookery.Documents.Patching;

namespace Rookery.Documents.Commands;

/// <summary>Reads one command of bulk_docs, members in any order, and adds it to the batch.</summary>
internal sealed class BatchElement(DocumentParser parser, BatchWriter writer, int maxBatchBytes, int formatLevel) : IDisposable
{
    private readonly PooledBytes id = new();
    private readonly PooledBytes changeVector = new();
    private readonly PatchRequest patch = new(formatLevel);
    private InputError refusal;
    private OperationKind kind;
    private bool hasChangeVector;
    private bool hasDocument;
    private bool returnsDocument;
    private bool isOfManyIds;
    private int createIfMissingAt;
    private bool isInside;

    /// <summary>Says why the element was refused.</summary>
    public InputError Explain(JsonScanner scanner)
    {
        InputError error = refusal.IsError ? refusal : patch.Refusal.IsError ? patch.Refusal : parser.Explain(scanner);
        return isInside ? error with { Where = error.Where with { Element = writer.Count } } : error;
    }

    /// <summary>Reads the command at the scanner's next token.</summary>
    public bool TryRead(scoped ref JsonScanner scanner)
    {
        Clear();
        isInside = true;
        scanner.Peek();
        int start = scanner.Position;
        if (!scanner.TryOpenObject())
        {
            return false;
        }

        ParsedDocument document = default;
        bool first = true;
        while (scanner.TryNextMember(ref first, out JsonSlice name))
        {
            if (!TryReadMember(ref scanner, name, ref document))
            {
                return false;
            }
        }

        isInside = scanner.Error != InputErrorCode.None || !TryAdd(ref scanner, start, document) || !IsWithinLimits(scanner, start);
        return !isInside;
    }

    /// <summary>Reads the body of PATCH docs at the scanner's next token.</summary>
    public bool TryReadPatch(scoped ref JsonScanner scanner, ReadOnlySpan<byte> patchedId, ExpectedChangeVector expected, bool skipOnMismatch)
    {
        Clear();
        if (!scanner.TryOpenObject())
        {
            return false;
        }

        ParsedDocument unused = default;
        bool first = true;
        while (scanner.TryNextMember(ref first, out JsonSlice name))
        {
            if (!TryReadMember(ref scanner, name, ref unused))
            {
                return false;
            }
        }

        if (scanner.Error != InputErrorCode.None)
        {
            return false;
        }

        if (!patch.HasScript)
        {
            return Refuse(InputErrorCode.InvalidPatch, scanner, 0, "The body has no Patch", "Send {\"Patch\":{\"Script\":…,\"Values\":{…}}}");
        }

        patch.Complete(default);
        writer.Patch(patchedId, expected, patch.Program, returnsDocument: true, skipOnMismatch);
        return true;
    }

    /// <summary>Reads the value of TransactionMode.</summary>
    public bool TryReadMode(scoped ref JsonScanner scanner, out bool clusterWide)
    {
        clusterWide = false;
        if (scanner.Peek() == (byte)'n')
        {
            return scanner.TryTakeLiteral("null"u8);
        }

        int start = scanner.Position;
        if (!scanner.TryReadString(out JsonSlice slice))
        {
            return false;
        }

        ReadOnlySpan<byte> mode = scanner.Text(slice);
        clusterWide = mode.SequenceEqual("ClusterWide"u8);
        return clusterWide || mode.SequenceEqual("SingleNode"u8)
            || Refuse(InputErrorCode.NotSupported, scanner, start, "This transaction mode is not supported", "Use SingleNode or ClusterWide");
    }

    /// <summary>Notes why the element is refused.</summary>
    public bool Refuse(InputErrorCode code, JsonScanner scanner, int at, string what, string advice)
    {
        refusal = InputErrors.InJson(code, scanner.Json, at, what, advice);
        return false;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        id.Release();
        changeVector.Release();
        patch.Release();
    }

    /// <summary>Checked after each command: a patch may become longer than its JSON, so the body's length alone does not bound the batch.</summary>
    private bool IsWithinLimits(JsonScanner scanner, int start)
    {
        int most = DocumentLimits.BatchCommands(maxBatchBytes);
        return (writer.Length <= maxBatchBytes
                || Refuse(InputErrorCode.BatchTooLarge, scanner, start, $"The batch takes more than {maxBatchBytes} bytes", "Send several batches, or use bulk insert"))
            && (writer.Count <= most
                || Refuse(InputErrorCode.BatchTooLarge, scanner, start, $"The batch holds more than {most} commands", "Send several batches, or use bulk insert"));
    }

    private void Clear()
    {
        id.Clear();
        changeVector.Clear();
        patch.Clear();
        (kind, hasChangeVector, hasDocument, returnsDocument, isOfManyIds, createIfMissingAt) = (default, false, false, false, false, -1);
    }

    private bool TryReadMember(scoped ref JsonScanner scanner, JsonSlice name, scoped ref ParsedDocument document)
    {
        ReadOnlySpan<byte> member = scanner.Text(name);
        if (member.SequenceEqual("Document"u8))
        {
            return hasDocument = parser.TryRead(ref scanner, MetadataUse.Document, out document);
        }

        if (member.SequenceEqual("Id"u8))
        {
            return TryReadText(ref scanner, id, out _);
        }

        if (member.SequenceEqual("ChangeVector"u8))
        {
            return TryReadText(ref scanner, changeVector, out hasChangeVector);
        }

        if (member.SequenceEqual("Type"u8))
        {
            return TryReadType(ref scanner);
        }

        if (member.SequenceEqual("Patch"u8))
        {
            return patch.TryReadPatch(ref scanner);
        }

        if (member.SequenceEqual("PatchIfMissing"u8))
        {
            return patch.TryReadPatchIfMissing(ref scanner);
        }

        byte next = scanner.Peek();
        if (member.SequenceEqual("ForceRevisionCreationStrategy"u8) && next != (byte)'n')
        {
            int start = scanner.Position;
            return scanner.TryReadString(out JsonSlice strategy)
                && (scanner.Text(strategy).SequenceEqual("None"u8)
                    || Refuse(InputErrorCode.NotSupported, scanner, start, "Batch: ForceRevisionCreationStrategy is not supported, because there are no revisions", "Leave it out"));
        }

        if (member.SequenceEqual("CreateIfMissing"u8))
        {
            createIfMissingAt = next == (byte)'n' ? -1 : scanner.Position;
        }
        else if (member.SequenceEqual("ReturnDocument"u8))
        {
            returnsDocument = next == (byte)'t';
        }
        else if (member.SequenceEqual("IdPrefixed"u8))
        {
            isOfManyIds = next == (byte)'t';
        }

        return scanner.TrySkipValue(DocumentLimits.MaxDepth);
    }

    /// <summary>Reads a string or null.</summary>
    private static bool TryReadText(scoped ref JsonScanner scanner, PooledBytes text, out bool isText)
    {
        isText = scanner.Peek() != (byte)'n';
        if (!isText)
        {
            return scanner.TryTakeLiteral("null"u8);
        }

        if (!scanner.TryReadString(out JsonSlice slice))
        {
            return false;
        }

        text.Append(scanner.Text(slice));
        return true;
    }

    private bool TryReadType(scoped ref JsonScanner scanner)
    {
        scanner.Peek();
        int start = scanner.Position;
        if (!scanner.TryReadString(out JsonSlice slice))
        {
            return false;
        }

        ReadOnlySpan<byte> type = scanner.Text(slice);
        kind = type.SequenceEqual("PUT"u8) ? OperationKind.Put
            : type.SequenceEqual("DELETE"u8) ? OperationKind.Delete
            : type.SequenceEqual("PATCH"u8) ? OperationKind.Patch
            : default;
        return kind != default
            || Refuse(InputErrorCode.NotSupported, scanner, start, UnsupportedCommand.Describe("Batch", type), "Send PUT, DELETE and PATCH commands only");
    }

    private bool TryAdd(scoped ref JsonScanner scanner, int start, in ParsedDocument document)
    {
        InputError idError = default;
        bool isIdValid = kind == OperationKind.Put ? DocumentId.TryValidateForStore(id.Written, out idError) : kind == default || DocumentId.TryValidate(id.Written, out idError);
        if (!isIdValid)
        {
            return Refuse(idError.Code, scanner, start, idError.What, idError.Advice);
        }

        ExpectedChangeVector expected = hasChangeVector ? ExpectedChangeVector.MustEqual(changeVector.Written) : ExpectedChangeVector.None;
        switch (kind)
        {
            case OperationKind.Put when hasDocument:
                writer.Put(id.Written, expected, document);
                return true;
            case OperationKind.Delete when isOfManyIds:
                return Refuse(InputErrorCode.NotSupported, scanner, start, "Batch: deleting by id prefix (IdPrefixed) is not supported", "Delete the documents by their ids");
            case OperationKind.Delete:
                writer.Delete(id.Written, expected);
                return true;
            case OperationKind.Patch when patch.HasScript:
                return TryAddPatch(ref scanner, expected);
            case OperationKind.Put or OperationKind.Patch:
                return Refuse(InputErrorCode.MissingMember, scanner, start, $"The command has no {(kind == OperationKind.Put ? "Document" : "Patch")}", "Send the whole command");
            default:
                return Refuse(InputErrorCode.MissingMember, scanner, start, "The command has no Type", "Send PUT, DELETE or PATCH");
        }
    }

    /// <summary>Adds a patch. A document to create is read a second time, because only now the type is known.</summary>
    private bool TryAddPatch(scoped ref JsonScanner scanner, ExpectedChangeVector expected)
    {
        ParsedDocument createIfMissing = default;
        if (createIfMissingAt >= 0)
        {
            var again = new JsonScanner(scanner.Json, createIfMissingAt, parser.Keys);
            if (!parser.TryRead(ref again, MetadataUse.Document, out createIfMissing))
            {
                return scanner.Fail(again.Error, again.Position);
            }
        }

        patch.Complete(createIfMissing);
        writer.Patch(id.Written, expected, patch.Program, returnsDocument, skipsOnMismatch: false);
        return true;
    }
}
