using System.Buffers.Text;
using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Json;

namespace Rookery.Documents.Commands;

/// <summary>
/// Encodes a bulk_docs body with <c>"TransactionMode":"ClusterWide"</c> as a
/// <see cref="CommandKind.ClusterTransaction"/>.
/// </summary>
internal sealed class ClusterTransactionParser : BatchBodyReader
{
    private long? _index;

    private ClusterTransactionParser(DocumentParser parser, BatchWriter writer, int maxBatchBytes)
        : base(parser, writer, maxBatchBytes) { }

    /// <inheritdoc/>
    protected override (string Name, string Advice) Wording => ("transaction", "Send several transactions");

    /// <summary>
    /// Returns whether a body asks for a cluster-wide transaction. The mode changes the meaning of the commands, but
    /// usually follows them, so it is searched first. Most bodies do not contain the word.
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
        using var parser = DocumentParser.Rent();
        using var writer = new BatchWriter(CommandKind.ClusterTransaction, database, key, sizeHint: body.Length);
        if (!hasGuards)
        {
            writer.DisableGuards();
        }

        using var reader = new ClusterTransactionParser(parser, writer, maxBatchBytes);
        parser.Keys.Reset();
        var scanner = new JsonScanner(body, position: 0, parser.Keys);
        if (!reader.TryReadBody(ref scanner))
        {
            error = reader.Explain(scanner);
            return false;
        }

        error = default;
        int count = writer.Count;
        batch = new ParsedBatch(writer.Complete(), count) { IsClusterWide = true };
        return true;
    }

    /// <inheritdoc/>
    public override void Dispose() => ReleaseTexts();

    /// <inheritdoc/>
    protected override void Clear()
    {
        base.Clear();
        _index = null;
    }

    /// <inheritdoc/>
    protected override bool TryReadMode(scoped ref JsonScanner scanner) => scanner.TrySkipValue(levels: 1);

    /// <inheritdoc/>
    protected override bool TryReadMember(
        scoped ref JsonScanner scanner,
        JsonSlice name,
        scoped ref ParsedDocument document
    )
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
            return HasDocument = Parser.TryRead(ref scanner, MetadataUse.Document, out document);
        }

        if (member.SequenceEqual("Id"u8))
        {
            return TryReadText(ref scanner, Id);
        }

        if (member.SequenceEqual("OriginalChangeVector"u8))
        {
            HasChangeVector = true;
            return TryReadText(ref scanner, ChangeVector);
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

        string unknown = ShortText.Of(member, maxBytes: 64);
        return RefuseMember(scanner, unknown, at, "a command of a cluster-wide transaction");
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
        Kind =
            type.SequenceEqual("PUT"u8) ? OperationKind.Put
            : type.SequenceEqual("DELETE"u8) ? OperationKind.Delete
            : type.SequenceEqual("CompareExchangePUT"u8) ? OperationKind.CompareExchangePut
            : type.SequenceEqual("CompareExchangeDELETE"u8) ? OperationKind.CompareExchangeDelete
            : default;
        return Kind != default
            || Refuse(
                InputErrorCode.NotSupported,
                scanner,
                start,
                $"Commands of type '{ShortText.Of(type, maxBytes: 64)}' are not supported in a cluster-wide "
                    + "transaction",
                "Send PUT, DELETE, CompareExchangePUT and CompareExchangeDELETE commands only"
            );
    }

    /// <inheritdoc/>
    protected override bool TryAdd(scoped ref JsonScanner scanner, int start, in ParsedDocument document)
    {
        if (Kind == default)
        {
            return Refuse(
                InputErrorCode.MissingMember,
                scanner,
                start,
                "The command has no Type",
                "Send PUT, DELETE, CompareExchangePUT or CompareExchangeDELETE"
            );
        }

        bool isPut = Kind is OperationKind.Put or OperationKind.CompareExchangePut;
        bool isDocument = Kind is OperationKind.Put or OperationKind.Delete;
        string? stray =
            !isPut && HasDocument ? "Document"
            : isDocument && _index is not null ? "Index"
            : !isDocument && HasChangeVector ? "OriginalChangeVector"
            : null;
        if (stray is not null)
        {
            return RefuseMember(scanner, stray, start, $"a {Name(Kind)} command");
        }

        string? missing =
            isPut && !HasDocument ? "Document"
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

        InputError refusal;
        bool isValid = Kind switch
        {
            OperationKind.Put => DocumentId.TryValidateForStore(Id.Written, out refusal),
            OperationKind.Delete => DocumentId.TryValidate(Id.Written, out refusal),
            OperationKind.CompareExchangePut => CompareExchangeKey.TryValidateForStore(Id.Written, out refusal)
                && CompareExchangeValue.TryCheck(document, out refusal),
            _ => CompareExchangeKey.TryValidate(Id.Written, out refusal),
        };
        if (!isValid)
        {
            return Refuse(refusal.Code, scanner, start, refusal.What, refusal.Advice);
        }

        var expected = Expected;
        switch (Kind)
        {
            case OperationKind.Put:
                Writer.Put(Id.Written, expected, document);
                break;
            case OperationKind.Delete:
                Writer.Delete(Id.Written, expected);
                break;
            case OperationKind.CompareExchangePut:
                Writer.PutCompareExchange(Id.Written, _index!.Value, document);
                break;
            default:
                Writer.DeleteCompareExchange(Id.Written, _index!.Value);
                break;
        }

        return true;
    }

    private static string Name(OperationKind kind) =>
        kind switch
        {
            OperationKind.Put => "PUT",
            OperationKind.Delete => "DELETE",
            OperationKind.CompareExchangePut => "CompareExchangePUT",
            _ => "CompareExchangeDELETE",
        };
}
