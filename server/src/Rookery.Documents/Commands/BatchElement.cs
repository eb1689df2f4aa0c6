using Rookery.Documents.Ids;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Documents.Patching;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>Reads the commands of a batch and the bodies of patches, and adds them to a batch.</summary>
internal sealed class BatchElement(
    DocumentParser parser,
    BatchWriter writer,
    int maxBatchBytes,
    int formatLevel,
    bool takesContents = false
) : BatchBodyReader(parser, writer, maxBatchBytes)
{
    private const string NoRevisions =
        "Revisions cannot be created while members may return to the previous version, which cannot read them";

    private const string UpgradeAdvice =
        "When all members run the new version, end the upgrade: `rookery cluster finalize-upgrade`";

    private const string TypeAdvice =
        "Send PUT, DELETE, PATCH, BatchPATCH, JsonPatch, Counters, ForceRevisionCreation or attachments only";

    private const string PatchExample = "Send {\"Patch\":{\"Script\":…,\"Values\":{…}}}";

    /// <summary>Members of a command, for a suggestion when a name is misspelt.</summary>
    private static readonly string[] CommandMembers =
    [
        "Id",
        "Type",
        "Document",
        "ChangeVector",
        "Patch",
        "PatchIfMissing",
        "JsonPatch",
        "Counters",
        "CreateIfMissing",
        "ReturnDocument",
        "Name",
        "ContentType",
        "DestinationId",
        "DestinationName",
    ];

    private readonly AttachmentElement _attachment = new(takesContents);
    private readonly PatchRequest _patch = new(formatLevel);
    private readonly JsonPatchRequest _jsonPatch = new(formatLevel);
    private readonly CounterOperationList _counters = new(formatLevel);
    private bool _forcesRevision;
    private bool _returnsDocument;
    private bool _isIdPrefix;
    private readonly PatchedIds _ids = new();
    private bool _isJsonPatch; // whether the type of the patch is JsonPatch
    private bool _isBatchPatch;
    private int _createIfMissingAt; // offset of the member's value; -1 without a value
    private string? _unknown; // name of the first unknown member
    private int _unknownAt;

    /// <inheritdoc/>
    protected override (string Name, string Advice) Wording => ("batch", "Send several batches, or use bulk insert");

    /// <summary>Reads the body of PATCH docs at the scanner's next token.</summary>
    public bool TryReadPatch(
        scoped ref JsonScanner scanner,
        ReadOnlySpan<byte> patchedId,
        ExpectedChangeVector expected,
        bool skipOnMismatch
    )
    {
        Clear();
        if (!scanner.TryOpenObject())
        {
            return false;
        }

        bool first = true;
        while (scanner.TryNextMember(ref first, out JsonSlice name))
        {
            ReadOnlySpan<byte> member = scanner.Text(name);
            bool isRead =
                member.SequenceEqual("Patch"u8) ? _patch.TryReadPatch(ref scanner)
                : member.SequenceEqual("PatchIfMissing"u8) ? _patch.TryReadPatchIfMissing(ref scanner)
                : TrySkipUnknown(ref scanner, member);
            if (!isRead)
            {
                return false;
            }
        }

        if (scanner.Error != InputErrorCode.None)
        {
            return false;
        }

        if (_unknown is not null)
        {
            return _unknown is "Script" or "Values" && !_patch.HasScript
                ? Refuse(
                    InputErrorCode.InvalidPatch,
                    scanner,
                    _unknownAt,
                    $"The member '{_unknown}' belongs into 'Patch'",
                    PatchExample
                )
                : RefuseMember(scanner, _unknown, _unknownAt, "PATCH docs", "Patch", "PatchIfMissing");
        }

        if (!_patch.HasScript)
        {
            return Refuse(InputErrorCode.InvalidPatch, scanner, at: 0, "The body has no Patch", PatchExample);
        }

        _patch.Complete(default, scanner.Json);
        Writer.Patch(patchedId, expected, _patch.Program, returnsDocument: true, skipOnMismatch);
        return true;
    }

    /// <summary>Reads a JSON Patch of one document at the scanner's next token.</summary>
    /// <param name="scanner">The scanner of the body.</param>
    /// <param name="patchedId">The document's id.</param>
    /// <param name="expected">The document's expected change vector.</param>
    /// <param name="skipOnMismatch">Whether a mismatch skips the patch instead of refusing it.</param>
    /// <param name="isBare">Whether the body is the array of operations; otherwise the array is its member
    /// Operations.</param>
    public bool TryReadJsonPatch(
        scoped ref JsonScanner scanner,
        ReadOnlySpan<byte> patchedId,
        ExpectedChangeVector expected,
        bool skipOnMismatch,
        bool isBare
    )
    {
        Clear();
        bool isRead = isBare ? _jsonPatch.TryReadOperations(ref scanner) : _jsonPatch.TryReadEnvelope(ref scanner);
        if (isRead)
        {
            Writer.Patch(patchedId, expected, _jsonPatch.Program, returnsDocument: true, skipOnMismatch);
        }

        return isRead;
    }

    /// <inheritdoc/>
    protected override bool TryReadMode(scoped ref JsonScanner scanner)
    {
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
        return mode.SequenceEqual("SingleNode"u8)
            || Refuse(
                InputErrorCode.NotSupported,
                scanner,
                start,
                $"The TransactionMode {ShortText.Of(mode, maxBytes: 64)} is not supported by this version",
                "Use SingleNode; each batch is one transaction, stored on a majority of the voters"
            );
    }

    /// <inheritdoc/>
    public override void Dispose()
    {
        ReleaseTexts();
        _attachment.Release();
        _patch.Release();
        _jsonPatch.Release();
        _ids.Release();
        _counters.Release();
    }

    /// <inheritdoc/>
    protected override void Clear()
    {
        base.Clear();
        _attachment.Clear();
        _patch.Clear();
        _jsonPatch.Clear();
        _ids.Clear();
        _isBatchPatch = false;
        _counters.Clear();
        _isJsonPatch = false;
        _forcesRevision = false;
        _returnsDocument = false;
        _isIdPrefix = false;
        _createIfMissingAt = -1;
        _unknown = null;
    }

    /// <inheritdoc/>
    protected override InputError FindRefusalOfContent() =>
        _patch.Refusal.IsError ? _patch.Refusal
        : _jsonPatch.Refusal.IsError ? _jsonPatch.Refusal
        : _ids.Refusal.IsError ? _ids.Refusal
        : _counters.Refusal;

    /// <inheritdoc/>
    protected override bool TryReadMember(
        scoped ref JsonScanner scanner,
        JsonSlice name,
        scoped ref ParsedDocument document
    )
    {
        ReadOnlySpan<byte> member = scanner.Text(name);
        if (member.SequenceEqual("Document"u8))
        {
            return HasDocument = Parser.TryRead(ref scanner, MetadataUse.Document, out document);
        }

        if (member.SequenceEqual("Id"u8))
        {
            return TryReadTextOrNull(ref scanner, Id, out _);
        }

        if (member.SequenceEqual("ChangeVector"u8))
        {
            bool isRead = TryReadTextOrNull(ref scanner, ChangeVector, out bool hasChangeVector);
            HasChangeVector = hasChangeVector;
            return isRead;
        }

        if (_attachment.TextOf(member) is { } text)
        {
            return TryReadTextOrNull(ref scanner, text, out _);
        }

        if (member.SequenceEqual("Type"u8))
        {
            return TryReadType(ref scanner);
        }

        if (member.SequenceEqual("Patch"u8))
        {
            return _patch.TryReadPatch(ref scanner);
        }

        if (member.SequenceEqual("PatchIfMissing"u8))
        {
            return _patch.TryReadPatchIfMissing(ref scanner);
        }

        if (member.SequenceEqual("Ids"u8) && scanner.Peek() != (byte)'n')
        {
            return _ids.TryRead(ref scanner, Writer, MaxBatchBytes);
        }
        if (member.SequenceEqual("JsonPatch"u8) && scanner.Peek() != (byte)'n')
        {
            return _jsonPatch.TryReadEnvelope(ref scanner);
        }

        if (member.SequenceEqual("Counters"u8) && scanner.Peek() != (byte)'n')
        {
            _counters.LimitToRoomOf(Writer, MaxBatchBytes);
            return _counters.TryRead(ref scanner);
        }

        byte next = scanner.Peek();
        if (member.SequenceEqual("ForceRevisionCreationStrategy"u8) && next != (byte)'n')
        {
            return TryReadForcing(ref scanner);
        }

        if (member.SequenceEqual("CreateIfMissing"u8))
        {
            _createIfMissingAt = next == (byte)'n' ? -1 : scanner.Position;
            return scanner.TrySkipValue(JsonLimits.MaxDepth);
        }

        if (member.SequenceEqual("ReturnDocument"u8))
        {
            return TryReadFlag(ref scanner, "ReturnDocument", out _returnsDocument);
        }

        if (member.SequenceEqual("IdPrefixed"u8))
        {
            return TryReadFlag(ref scanner, "IdPrefixed", out _isIdPrefix);
        }

        // OriginalChangeVector is ignored: the session sends it, but only cluster-wide transactions compare it.
        return member.SequenceEqual("OriginalChangeVector"u8)
            ? scanner.TrySkipValue(JsonLimits.MaxDepth)
            : TrySkipUnknown(ref scanner, member);
    }

    /// <summary>
    /// Skips an unknown member, and records its name unless its value is null. The refusal comes later, because the
    /// command's type, which may follow, gives a better message.
    /// </summary>
    private bool TrySkipUnknown(scoped ref JsonScanner scanner, ReadOnlySpan<byte> member)
    {
        if (scanner.Peek() != (byte)'n' && _unknown is null)
        {
            _unknown = ShortText.Of(member, maxBytes: 64);
            _unknownAt = scanner.Position;
        }

        return scanner.TrySkipValue(JsonLimits.MaxDepth);
    }

    private bool TryReadForcing(scoped ref JsonScanner scanner)
    {
        int start = scanner.Position;
        if (!scanner.TryReadString(out JsonSlice slice))
        {
            return false;
        }

        var strategy = scanner.Text(slice);
        _forcesRevision = strategy.SequenceEqual("Before"u8);
        if (!_forcesRevision && !strategy.SequenceEqual("None"u8))
        {
            return Refuse(
                InputErrorCode.NotSupported,
                scanner,
                start,
                $"The ForceRevisionCreationStrategy {ShortText.Of(strategy, maxBytes: 64)} is not supported",
                "Use Before or None"
            );
        }

        return !_forcesRevision
            || formatLevel >= FormatLevel.Revisions
            || Refuse(InputErrorCode.NotSupported, scanner, start, NoRevisions, UpgradeAdvice);
    }

    private bool TryReadFlag(scoped ref JsonScanner scanner, string name, out bool flag)
    {
        byte next = scanner.Peek();
        flag = next == (byte)'t';
        if (flag)
        {
            return scanner.TryTakeLiteral("true"u8);
        }

        if (next == (byte)'f')
        {
            return scanner.TryTakeLiteral("false"u8);
        }

        if (next == (byte)'n')
        {
            return scanner.TryTakeLiteral("null"u8);
        }

        return Refuse(
            InputErrorCode.WrongType,
            scanner,
            scanner.Position,
            $"'{name}' is true or false",
            "Send one of them, or leave it out"
        );
    }

    /// <summary>
    /// Returns the first member that has a value but is not allowed for this kind of command, or null.
    /// </summary>
    private string? FindForbiddenMember()
    {
        bool isScript = Kind == OperationKind.Patch && !_isJsonPatch;
        bool isCreateIfMissing = _createIfMissingAt >= 0;
        return _unknown
            ?? (
                Kind != OperationKind.Put && HasDocument ? "Document"
                : _attachment.FindForbiddenMember(Kind) is { } stray ? stray
                : _jsonPatch.IsRead && !_isJsonPatch ? "JsonPatch"
                : _ids.IsRead && !_isBatchPatch ? "Ids"
                : _isBatchPatch && (Id.Length > 0 || HasChangeVector)
                    ? Id.Length > 0 ? "Id"
                        : "ChangeVector"
                : _isBatchPatch && isCreateIfMissing ? "CreateIfMissing"
                : _counters.IsRead && Kind != OperationKind.CounterIncrement ? "Counters"
                : HasChangeVector && Kind == OperationKind.CounterIncrement ? "ChangeVector"
                : _isIdPrefix && Kind != OperationKind.Delete ? "IdPrefixed"
                : _forcesRevision && Kind != OperationKind.Put ? "ForceRevisionCreationStrategy"
                : HasChangeVector && Kind == OperationKind.Revision ? "ChangeVector"
                : _patch.HasScriptIfMissing && (!isScript || isCreateIfMissing) ? "PatchIfMissing"
                : isScript ? null
                : _patch.HasScript ? "Patch"
                : isCreateIfMissing ? "CreateIfMissing"
                : _returnsDocument && !_isJsonPatch ? "ReturnDocument"
                : null
            );
    }

    /// <summary>Reads a string or null.</summary>
    private static bool TryReadTextOrNull(scoped ref JsonScanner scanner, PooledBytes text, out bool isText)
    {
        isText = scanner.Peek() != (byte)'n';
        return isText ? TryReadText(ref scanner, text) : scanner.TryTakeLiteral("null"u8);
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
        Kind =
            type.SequenceEqual("PUT"u8) ? OperationKind.Put
            : type.SequenceEqual("DELETE"u8) ? OperationKind.Delete
            : type.SequenceEqual("Counters"u8) ? OperationKind.CounterIncrement
            : type.SequenceEqual("ForceRevisionCreation"u8) && formatLevel >= FormatLevel.Revisions
                ? OperationKind.Revision
            : type.SequenceEqual("PATCH"u8) || type.SequenceEqual("JsonPatch"u8) || type.SequenceEqual("BatchPATCH"u8)
                ? OperationKind.Patch
            : _attachment.ReadType(type, formatLevel);
        _isJsonPatch = type.SequenceEqual("JsonPatch"u8);
        _isBatchPatch = type.SequenceEqual("BatchPATCH"u8);
        string problem = Kind == default ? UnsupportedCommand.Describe("Batch", type) : "";
        return Kind != default || Refuse(InputErrorCode.NotSupported, scanner, start, problem, TypeAdvice);
    }

    private string NameOfContent() =>
        Kind switch
        {
            OperationKind.Put => "Document",
            OperationKind.CounterIncrement => "Counters",
            OperationKind.Patch when _isBatchPatch && _patch.HasScript => "Ids",
            _ => _isJsonPatch ? "JsonPatch" : "Patch",
        };

    private string TypeName() =>
        Kind switch
        {
            OperationKind.Put => "PUT",
            OperationKind.Delete => "DELETE",
            OperationKind.CounterIncrement => "Counters",
            OperationKind.AttachmentPut or OperationKind.AttachmentDelete or OperationKind.AttachmentCopy =>
                _attachment.TypeOf(Kind),
            OperationKind.Revision => "ForceRevisionCreation",
            _ => _isJsonPatch ? "JsonPatch"
            : _isBatchPatch ? "BatchPATCH"
            : "PATCH",
        };

    /// <inheritdoc/>
    protected override bool TryAdd(scoped ref JsonScanner scanner, int start, in ParsedDocument document)
    {
        if (Kind != default && FindForbiddenMember() is { } stray)
        {
            // A script's PatchIfMissing is refused only beside CreateIfMissing: both say what is stored if the document
            // is missing.
            bool isSecond = stray is "PatchIfMissing" && Kind == OperationKind.Patch && !_isJsonPatch;
            string where = $"a {TypeName()} command{(isSecond ? " with CreateIfMissing" : "")}";
            return RefuseMember(scanner, stray, _unknown is null ? start : _unknownAt, where, CommandMembers);
        }

        InputError idError = default;
        bool isIdValid =
            Kind == OperationKind.Put
                ? DocumentId.TryValidateForStore(Id.Written, out idError)
                : Kind == default || _isBatchPatch || DocumentId.TryValidate(Id.Written, out idError);
        if (!isIdValid)
        {
            return Refuse(idError.Code, scanner, start, idError.What, idError.Advice);
        }

        var expected = Expected;
        switch (Kind)
        {
            case OperationKind.Put when HasDocument:
                Writer.Put(Id.Written, expected, document, _forcesRevision);
                return true;
            case OperationKind.Revision:
                Writer.Revision(Id.Written, new RevisionCommand { Action = RevisionAction.Force });
                return true;
            case OperationKind.AttachmentPut or OperationKind.AttachmentDelete or OperationKind.AttachmentCopy:
                return _attachment.TryAdd(Writer, Kind, Id.Written, expected, out string what, out string advice)
                    || Refuse(InputErrorCode.WrongType, scanner, start, what, advice);
            case OperationKind.Delete when _isIdPrefix:
                return Refuse(
                    InputErrorCode.NotSupported,
                    scanner,
                    start,
                    "Batch: deleting by id prefix (IdPrefixed) is not supported",
                    "Delete the documents by their ids"
                );
            case OperationKind.Delete:
                Writer.Delete(Id.Written, expected);
                return true;
            case OperationKind.Patch when _isJsonPatch && _jsonPatch.IsRead:
                Writer.Patch(Id.Written, expected, _jsonPatch.Program, _returnsDocument, skipsOnMismatch: false);
                return true;
            case OperationKind.Patch when _isBatchPatch && _patch.HasScript && _ids.Count > 0:
                _patch.Complete(default, scanner.Json);
                _ids.AddTo(Writer, _patch.Program, _returnsDocument, MaxBatchBytes);
                return true;
            case OperationKind.Patch when _patch.HasScript && !_isJsonPatch && !_isBatchPatch:
                return TryAddPatch(ref scanner, expected);
            case OperationKind.CounterIncrement when _counters.IsRead && !_counters.IsOf(Id.Written, scanner, start):
                return false;
            case OperationKind.CounterIncrement when _counters.IsRead:
                Writer.Counters(Id.Written, _counters);
                return true;
            case OperationKind.Put or OperationKind.Patch or OperationKind.CounterIncrement:
                return Refuse(
                    InputErrorCode.MissingMember,
                    scanner,
                    start,
                    $"The command has no {NameOfContent()}",
                    "Send the whole command"
                );
            default:
                return Refuse(
                    InputErrorCode.MissingMember,
                    scanner,
                    start,
                    "The command has no Type",
                    "Send PUT, DELETE or PATCH"
                );
        }
    }

    /// <summary>
    /// Adds a patch. CreateIfMissing is parsed only now, because its meaning depends on the command's type, which may
    /// follow it.
    /// </summary>
    private bool TryAddPatch(scoped ref JsonScanner scanner, ExpectedChangeVector expected)
    {
        ParsedDocument createIfMissing = default;
        if (_createIfMissingAt >= 0)
        {
            var again = new JsonScanner(scanner.Json, _createIfMissingAt, Parser.Keys);
            if (!Parser.TryRead(ref again, MetadataUse.Document, out createIfMissing))
            {
                return scanner.Fail(again.Error, again.Position);
            }
        }

        _patch.Complete(createIfMissing, scanner.Json);
        Writer.Patch(Id.Written, expected, _patch.Program, _returnsDocument, skipsOnMismatch: false);
        return true;
    }
}
