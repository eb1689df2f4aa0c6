using System.Buffers.Text;
using System.Text;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>
/// Encodes a bulk_docs body with <c>"TransactionMode":"ClusterWide"</c> as a
/// <see cref="CommandKind.ClusterTransaction"/>.
/// </summary>
internal sealed class ClusterTransactionParser : IDisposable
{
    private const string Body = "the body of bulk_docs";

    private readonly DocumentParser _parser = DocumentParser.Rent();
    private readonly BatchWriter _writer;
    private readonly int _maxBatchBytes;
    private readonly PooledBytes _id = new();
    private readonly PooledBytes _changeVector = new();
    private InputError _refusal;
    private OperationKind _kind;
    private bool _hasChangeVector;
    private bool _hasDocument;
    private long? _index;
    private bool _isInside; // whether a command is being read, so that an error is in it

    private ClusterTransactionParser(uint database, IdempotencyKey key, int sizeHint, int maxBatchBytes)
    {
        _writer = new BatchWriter(CommandKind.ClusterTransaction, database, key, sizeHint: sizeHint);
        _maxBatchBytes = maxBatchBytes;
    }

    /// <summary>
    /// Returns whether a body asks for a cluster-wide transaction. The mode usually follows the commands, which it
    /// gives another meaning, so it is searched first. Most bodies do not contain the word.
    /// </summary>
    public static bool IsClusterWide(ReadOnlySpan<byte> body)
    {
        if (body.IndexOf("ClusterWide"u8) < 0)
        {
            return false;
        }

        using var parser = DocumentParser.Rent();
        parser.Keys.Reset();
        var scanner = new JsonScanner(body, position: 0, parser.Keys);
        if (!scanner.TryOpenObject())
        {
            return false;
        }

        bool first = true;
        while (scanner.TryNextMember(ref first, out JsonSlice name))
        {
            if (scanner.Text(name).SequenceEqual("TransactionMode"u8) && scanner.Peek() == (byte)'"')
            {
                return scanner.TryReadString(out JsonSlice mode) && scanner.Text(mode).SequenceEqual("ClusterWide"u8);
            }

            bool isSkipped =
                scanner.Peek() == (byte)'[' ? TrySkipCommands(ref scanner) : scanner.TrySkipValue(JsonLimits.MaxDepth);
            if (!isSkipped)
            {
                return false;
            }
        }

        return false;
    }

    // The commands are skipped member by member, because a document in them may be as deep as the scanner allows.
    private static bool TrySkipCommands(scoped ref JsonScanner scanner)
    {
        bool first = true;
        bool isOpen = scanner.TryTake((byte)'[');
        while (isOpen && scanner.TryNextElement(ref first))
        {
            bool firstMember = true;
            if (!scanner.TryOpenObject())
            {
                return false;
            }

            while (scanner.TryNextMember(ref firstMember, out _))
            {
                if (!scanner.TrySkipValue(JsonLimits.MaxDepth))
                {
                    return false;
                }
            }
        }

        return scanner.Error == InputErrorCode.None;
    }

    /// <summary>Parses the body.</summary>
    /// <param name="body">The whole body, UTF-8.</param>
    /// <param name="database">The database's number.</param>
    /// <param name="key">The request's idempotency key, or none.</param>
    /// <param name="hasGuards">Whether atomic guards protect the documents.</param>
    /// <param name="maxBatchBytes">Maximum length of the command.</param>
    /// <param name="batch">The command; the caller owns its buffer.</param>
    /// <param name="error">The reason for a refusal.</param>
    public static bool TryParse(
        ReadOnlySpan<byte> body,
        uint database,
        IdempotencyKey key,
        bool hasGuards,
        int maxBatchBytes,
        out ParsedBatch batch,
        out InputError error
    )
    {
        batch = default;
        using var parser = new ClusterTransactionParser(database, key, body.Length, maxBatchBytes);
        if (!hasGuards)
        {
            parser._writer.DisableGuards();
        }

        parser._parser.Keys.Reset();
        var scanner = new JsonScanner(body, position: 0, parser._parser.Keys);
        if (!parser.TryReadEnvelope(ref scanner))
        {
            error = parser.Explain(scanner);
            return false;
        }

        error = default;
        int count = parser._writer.Count;
        batch = new ParsedBatch(parser._writer.Complete(), count) { IsClusterWide = true };
        return true;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        _parser.Dispose();
        _writer.Dispose();
        _id.Release();
        _changeVector.Release();
    }

    private InputError Explain(JsonScanner scanner)
    {
        var error = _refusal.IsError ? _refusal : _parser.Explain(scanner);
        return _isInside ? error with { Where = error.Where with { Element = _writer.Count } } : error;
    }

    private bool TryReadEnvelope(scoped ref JsonScanner scanner)
    {
        if (!scanner.TryOpenObject())
        {
            return false;
        }

        bool first = true;
        bool hasCommands = false;
        while (scanner.TryNextMember(ref first, out JsonSlice name))
        {
            var member = scanner.Text(name);
            bool isRead;
            if (member.SequenceEqual("Commands"u8))
            {
                hasCommands = isRead = TryReadCommands(ref scanner);
            }
            else if (member.SequenceEqual("TransactionMode"u8))
            {
                isRead = scanner.TrySkipValue(levels: 1);
            }
            else
            {
                isRead =
                    scanner.Peek() == (byte)'n'
                        ? scanner.TryTakeLiteral("null"u8)
                        : RefuseMember(scanner, Encoding.UTF8.GetString(member), scanner.Position, Body);
            }

            if (!isRead)
            {
                return false;
            }
        }

        return scanner.Error == InputErrorCode.None
            && scanner.TryEnd()
            && (
                hasCommands
                || Refuse(
                    InputErrorCode.MissingMember,
                    scanner,
                    at: 0,
                    "The body has no Commands",
                    "Send {\"Commands\":[…]}"
                )
            );
    }

    private bool TryReadCommands(scoped ref JsonScanner scanner)
    {
        if (!scanner.TryTake((byte)'['))
        {
            return false;
        }

        bool first = true;
        while (scanner.TryNextElement(ref first))
        {
            if (!TryReadCommand(ref scanner))
            {
                return false;
            }
        }

        return scanner.Error == InputErrorCode.None;
    }

    private bool TryReadCommand(scoped ref JsonScanner scanner)
    {
        _id.Clear();
        _changeVector.Clear();
        (_kind, _hasChangeVector, _hasDocument, _index) = (default, false, false, null);
        _isInside = true;
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

        if (
            scanner.Error != InputErrorCode.None
            || !TryAdd(scanner, start, document)
            || !IsWithinLimits(scanner, start)
        )
        {
            return false;
        }

        _isInside = false;
        return true;
    }

    private bool TryReadMember(scoped ref JsonScanner scanner, JsonSlice name, scoped ref ParsedDocument document)
    {
        var member = scanner.Text(name);
        byte next = scanner.Peek();
        int at = scanner.Position;
        if (member.SequenceEqual("Type"u8))
        {
            return TryReadType(ref scanner);
        }

        if (next == (byte)'n')
        {
            return scanner.TryTakeLiteral("null"u8);
        }

        if (member.SequenceEqual("Document"u8))
        {
            return _hasDocument = _parser.TryRead(ref scanner, MetadataUse.Document, out document);
        }

        if (member.SequenceEqual("Id"u8))
        {
            return TryReadText(ref scanner, _id);
        }

        if (member.SequenceEqual("OriginalChangeVector"u8))
        {
            _hasChangeVector = true;
            return TryReadText(ref scanner, _changeVector);
        }

        if (member.SequenceEqual("Index"u8))
        {
            return TryReadIndex(ref scanner);
        }

        if (member.SequenceEqual("ChangeVector"u8))
        {
            return Refuse(
                InputErrorCode.NotSupported,
                scanner,
                at,
                "A cluster-wide transaction takes no ChangeVector: documents are protected by their atomic guards",
                "Send null, and the change vector that was read as OriginalChangeVector"
            );
        }

        if (member.SequenceEqual("IdPrefixed"u8) && next == (byte)'f')
        {
            return scanner.TryTakeLiteral("false"u8);
        }

        if (member.SequenceEqual("ForceRevisionCreationStrategy"u8) && next == (byte)'"')
        {
            return scanner.TryReadString(out JsonSlice strategy)
                && (
                    scanner.Text(strategy).SequenceEqual("None"u8)
                    || RefuseMember(scanner, "ForceRevisionCreationStrategy", at, "a command")
                );
        }

        return RefuseMember(
            scanner,
            Encoding.UTF8.GetString(member[..Math.Min(member.Length, 64)]),
            at,
            "a command of a cluster-wide transaction"
        );
    }

    private static bool TryReadText(scoped ref JsonScanner scanner, PooledBytes text)
    {
        if (!scanner.TryReadString(out JsonSlice slice))
        {
            return false;
        }

        text.Append(scanner.Text(slice));
        return true;
    }

    private bool TryReadIndex(scoped ref JsonScanner scanner)
    {
        int start = scanner.Position;
        if (!scanner.TrySkipValue(levels: 1))
        {
            return false;
        }

        var text = scanner.Json[start..scanner.Position];
        if (Utf8Parser.TryParse(text, out long index, out int read) && read == text.Length && index >= 0)
        {
            _index = index;
            return true;
        }

        return Refuse(
            InputErrorCode.WrongType,
            scanner,
            start,
            "'Index' must be a whole number from 0",
            "Send the index that was read, or 0 if the value must not exist"
        );
    }

    private bool TryReadType(scoped ref JsonScanner scanner)
    {
        int start = scanner.Position;
        if (!scanner.TryReadString(out JsonSlice slice))
        {
            return false;
        }

        var type = scanner.Text(slice);
        _kind =
            type.SequenceEqual("PUT"u8) ? OperationKind.Put
            : type.SequenceEqual("DELETE"u8) ? OperationKind.Delete
            : type.SequenceEqual("CompareExchangePUT"u8) ? OperationKind.CompareExchangePut
            : type.SequenceEqual("CompareExchangeDELETE"u8) ? OperationKind.CompareExchangeDelete
            : default;
        return _kind != default
            || Refuse(
                InputErrorCode.NotSupported,
                scanner,
                start,
                $"Commands of type '{Encoding.UTF8.GetString(type[..Math.Min(type.Length, 64)])}' are not supported in "
                    + "a cluster-wide transaction",
                "Send PUT, DELETE, CompareExchangePUT and CompareExchangeDELETE commands only"
            );
    }

    private bool TryAdd(JsonScanner scanner, int start, in ParsedDocument document)
    {
        if (_kind == default)
        {
            return Refuse(
                InputErrorCode.MissingMember,
                scanner,
                start,
                "The command has no Type",
                "Send PUT, DELETE, CompareExchangePUT or CompareExchangeDELETE"
            );
        }

        bool isPut = _kind is OperationKind.Put or OperationKind.CompareExchangePut;
        bool isDocument = _kind is OperationKind.Put or OperationKind.Delete;
        string? stray =
            !isPut && _hasDocument ? "Document"
            : isDocument && _index is not null ? "Index"
            : null;
        if (stray is not null)
        {
            return RefuseMember(scanner, stray, start, $"a {Name(_kind)} command");
        }

        string? missing =
            isPut && !_hasDocument ? "Document"
            : !isDocument && _index is null ? "Index"
            : null;
        if (missing is not null)
        {
            return Refuse(
                InputErrorCode.MissingMember,
                scanner,
                start,
                $"The command has no {missing}",
                "Send the whole command"
            );
        }

        bool isValid = _kind switch
        {
            OperationKind.Put => DocumentId.TryValidateForStore(_id.Written, out _refusal),
            OperationKind.Delete => DocumentId.TryValidate(_id.Written, out _refusal),
            OperationKind.CompareExchangePut => CompareExchangeKey.TryValidateForStore(_id.Written, out _refusal)
                && CompareExchangeValue.TryCheck(document, out _refusal),
            _ => CompareExchangeKey.TryValidate(_id.Written, out _refusal),
        };
        if (!isValid)
        {
            return Refuse(_refusal.Code, scanner, start, _refusal.What, _refusal.Advice);
        }

        var expected = _hasChangeVector
            ? ExpectedChangeVector.MustEqual(_changeVector.Written)
            : ExpectedChangeVector.None;
        switch (_kind)
        {
            case OperationKind.Put:
                _writer.Put(_id.Written, expected, document);
                break;
            case OperationKind.Delete:
                _writer.Delete(_id.Written, expected);
                break;
            case OperationKind.CompareExchangePut:
                _writer.PutCompareExchange(_id.Written, _index!.Value, document);
                break;
            default:
                _writer.DeleteCompareExchange(_id.Written, _index!.Value);
                break;
        }

        return true;
    }

    private bool IsWithinLimits(JsonScanner scanner, int start)
    {
        int max = DocumentLimits.BatchCommands(_maxBatchBytes);
        string? excess =
            _writer.Length > _maxBatchBytes ? $"takes more than {Amount.Bytes(_maxBatchBytes)}"
            : _writer.Count > max ? $"holds more than {max} commands"
            : null;
        return excess is null
            || Refuse(
                InputErrorCode.BatchTooLarge,
                scanner,
                start,
                $"The transaction {excess}",
                "Send several transactions"
            );
    }

    private static string Name(OperationKind kind) =>
        kind switch
        {
            OperationKind.Put => "PUT",
            OperationKind.Delete => "DELETE",
            OperationKind.CompareExchangePut => "CompareExchangePUT",
            _ => "CompareExchangeDELETE",
        };

    private bool RefuseMember(JsonScanner scanner, string name, int at, string where) =>
        Refuse(
            InputErrorCode.NotSupported,
            scanner,
            at,
            $"The member '{name}' of {where} is not supported by this version",
            "Leave it out"
        );

    private bool Refuse(InputErrorCode code, JsonScanner scanner, int at, string what, string advice)
    {
        _refusal = InputErrors.InJson(code, scanner.Json, at, what, advice);
        return false;
    }
}
