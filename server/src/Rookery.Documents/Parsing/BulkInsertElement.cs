using Rookery.Documents.Commands;
using Rookery.Documents.Ids;
using Rookery.Documents.Nodes;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Parsing;

/// <summary>
/// Reads one element of a bulk insert, with its members in any order:
/// <c>{"Id":"users/1","Type":"PUT","Document":{…}}</c>, <c>{"Id":"users/1","Type":"Counters","Counters":{…}}</c>, an
/// attachment (see <see cref="BulkInsertAttachment"/>) or <c>{"Type":"HeartBeat"}</c>.
/// </summary>
/// <param name="formatLevel">The cluster's format level; it decides whether counters and attachments are
/// accepted.</param>
internal sealed class BulkInsertElement(int formatLevel) : IDisposable
{
    private readonly CounterOperationList _counters = new(formatLevel, acceptsGet: false);
    private readonly BulkInsertAttachment _attachment = new();
    private readonly DocumentParser _parser = DocumentParser.Rent();
    private readonly PooledBytes _id = new();
    private InputError _refusal;
    private string? _unknown; // name of the first unknown member
    private int _unknownAt;

    /// <summary>Whether the element is a put; otherwise it has counters or an attachment, or is a heartbeat.</summary>
    public bool IsPut { get; private set; }

    /// <summary>The operations on the document's counters; null if the element is of another type.</summary>
    public CounterOperationList? Counters { get; private set; }

    /// <summary>The attachment whose content follows; null if the element is of another type.</summary>
    public BulkInsertAttachment? Attachment { get; private set; }

    /// <summary>The document's id, without escapes.</summary>
    public ReadOnlySpan<byte> Id => _id.Written;

    /// <summary>Creates a scanner for text that begins with an element.</summary>
    public JsonScanner Scan(ReadOnlySpan<byte> json)
    {
        _parser.Keys.Reset();
        return new JsonScanner(json, position: 0, _parser.Keys);
    }

    /// <summary>Reads the element at the scanner's next token. The caller checks that the text is UTF-8.</summary>
    public bool TryRead(scoped ref JsonScanner scanner, out ParsedDocument document)
    {
        document = default;
        _refusal = default;
        _unknown = null;
        _id.Clear();
        _counters.Clear();
        _attachment.Clear();
        IsPut = false;
        Counters = null;
        Attachment = null;
        bool isHeartBeat = false;
        bool hasDocument = false;
        bool first = true;
        int start = scanner.Position;
        if (!scanner.TryOpenObject())
        {
            return false;
        }

        while (scanner.TryNextMember(ref first, out JsonSlice name))
        {
            ReadOnlySpan<byte> text = scanner.Text(name);
            bool isRead;
            if (text.SequenceEqual("Document"u8))
            {
                hasDocument = isRead = _parser.TryRead(ref scanner, MetadataUse.Document, out document);
            }
            else if (text.SequenceEqual("Counters"u8) && scanner.Peek() != (byte)'n')
            {
                isRead = _counters.TryRead(ref scanner);
            }
            else if (text.SequenceEqual("Id"u8))
            {
                isRead = TryReadId(ref scanner);
            }
            else if (text.SequenceEqual("Type"u8))
            {
                isRead = TryReadType(ref scanner, out isHeartBeat);
            }
            else if (BulkInsertAttachment.IsMember(text))
            {
                isRead = _attachment.TryRead(ref scanner, text);
            }
            else
            {
                isRead = TrySkipUnknown(ref scanner, text);
            }

            if (!isRead)
            {
                return false;
            }
        }

        if (scanner.Error != InputErrorCode.None)
        {
            return false;
        }

        if (Counters is not null)
        {
            string? other = _unknown ?? (hasDocument ? "Document" : null);
            return other is not null || _attachment.HasMember(out other)
                ? RefuseUnknown(scanner, other, start)
                : IsOfOneDocument(scanner, start);
        }

        if (_counters.IsRead)
        {
            return RefuseUnknown(scanner, "Counters", start);
        }

        if (Attachment is not null)
        {
            return _unknown is not null || hasDocument
                ? RefuseUnknown(scanner, _unknown ?? "Document", start, "an attachment")
                : IsWholeAttachment(scanner, start);
        }

        if (_attachment.HasMember(out string? stray) && (isHeartBeat || IsPut))
        {
            return RefuseUnknown(scanner, stray, start);
        }

        if (_unknown is not null && (isHeartBeat || IsPut))
        {
            return RefuseUnknown(scanner, _unknown, _unknownAt);
        }

        if (isHeartBeat && (hasDocument || _id.Length > 0))
        {
            return RefuseUnknown(scanner, hasDocument ? "Document" : "Id", start, "a HeartBeat");
        }

        return isHeartBeat
            || (IsPut && hasDocument)
            || Refuse(
                InputErrorCode.MissingMember,
                scanner,
                start,
                IsPut ? "The element has no Document" : "The element has no Type",
                "Send {\"Id\":…,\"Type\":\"PUT\",\"Document\":{…}}"
            );
    }

    /// <summary>Returns why the element was refused.</summary>
    public InputError Explain(JsonScanner scanner)
    {
        if (_refusal.IsError)
        {
            return _refusal;
        }

        return _counters.Refusal.IsError ? _counters.Refusal : _parser.Explain(scanner);
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _parser.Dispose();
        _id.Release();
        _counters.Release();
        _attachment.Release();
    }

    private bool RefuseUnknown(JsonScanner scanner, string member, int at, string where = "an element") =>
        Refuse(
            InputErrorCode.NotSupported,
            scanner,
            at,
            $"Bulk insert: the member '{member}' of {where} is not supported",
            "Leave it out"
        );

    // Checks that the counters are those of one document that may exist: an empty id would become a new GUID.
    private bool IsOfOneDocument(JsonScanner scanner, int start)
    {
        if (!_counters.IsRead)
        {
            return Refuse(
                InputErrorCode.MissingMember,
                scanner,
                start,
                "The element has no Counters",
                "Send {\"Id\":…,\"Type\":\"Counters\",\"Counters\":{\"DocumentId\":…,\"Operations\":[…]}}"
            );
        }

        if (!DocumentId.TryValidate(_id.Written, out InputError error))
        {
            return Refuse(error.Code, scanner, start, error.What, error.Advice);
        }

        return _counters.IsOf(_id.Written, scanner, start);
    }

    private bool IsWholeAttachment(JsonScanner scanner, int start)
    {
        if (!DocumentId.TryValidate(_id.Written, out InputError error))
        {
            return Refuse(error.Code, scanner, start, error.What, error.Advice);
        }

        return _attachment.FindProblem() is not var (problem, advice)
            || Refuse(InputErrorCode.WrongType, scanner, start, problem, advice);
    }

    // An unknown member is refused later, because the element's type, which may follow, gives a better message.
    private bool TrySkipUnknown(scoped ref JsonScanner scanner, ReadOnlySpan<byte> member)
    {
        if (scanner.Peek() != (byte)'n' && _unknown is null)
        {
            _unknown = ShortText.Of(member, maxBytes: 64);
            _unknownAt = scanner.Position;
        }

        return scanner.TrySkipValue(JsonLimits.MaxDepth);
    }

    private bool TryReadId(scoped ref JsonScanner scanner)
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

        _id.Append(scanner.Text(slice));
        if (DocumentId.TryValidateForStore(_id.Written, out InputError error))
        {
            return true;
        }

        // If the cause is invalid UTF-8, the check of the whole element replaces this error by one with its position.
        return Refuse(error.Code, scanner, start, error.What, error.Advice);
    }

    private bool TryReadType(scoped ref JsonScanner scanner, out bool isHeartBeat)
    {
        isHeartBeat = false;
        scanner.Peek();
        int start = scanner.Position;
        if (!scanner.TryReadString(out JsonSlice slice))
        {
            return false;
        }

        ReadOnlySpan<byte> type = scanner.Text(slice);
        IsPut = type.SequenceEqual("PUT"u8);
        isHeartBeat = type.SequenceEqual("HeartBeat"u8);
        Counters = type.SequenceEqual("Counters"u8) ? _counters : null;
        Attachment =
            type.SequenceEqual("AttachmentPUT"u8) && formatLevel >= FormatLevel.Attachments ? _attachment : null;
        return IsPut
            || isHeartBeat
            || Counters is not null
            || Attachment is not null
            || Refuse(
                InputErrorCode.NotSupported,
                scanner,
                start,
                UnsupportedCommand.Describe("Bulk insert", type),
                "Store documents, counters and attachments only"
            );
    }

    private bool Refuse(InputErrorCode code, JsonScanner scanner, int at, string problem, string advice)
    {
        _refusal = InputErrors.InJson(code, scanner.Json, at, problem, advice);
        return false;
    }
}
