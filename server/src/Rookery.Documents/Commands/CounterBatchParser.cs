using Rookery.Documents.Ids;
using Rookery.Documents.Parsing;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>
/// Encodes the body of POST counters, <c>{"Documents":[{"DocumentId":…,"Operations":[…]},…]}</c>, as a batch.
/// </summary>
public static class CounterBatchParser
{
    private const string Body = "the body of POST counters";

    /// <summary>Parses the body.</summary>
    /// <param name="body">The whole body.</param>
    /// <param name="database">The database's number.</param>
    /// <param name="key">The request's idempotency key, or none.</param>
    /// <param name="maxBatchBytes">Maximum length of the command.</param>
    /// <param name="formatLevel">The cluster's format level.</param>
    /// <param name="batch">The command; the caller owns its buffer.</param>
    /// <param name="repliesWithAllValues">Whether the answer must hold CounterValues.</param>
    /// <param name="error">The reason for a refusal.</param>
    public static bool TryParse(
        ReadOnlySpan<byte> body,
        uint database,
        IdempotencyKey key,
        int maxBatchBytes,
        int formatLevel,
        out ParsedBatch batch,
        out bool repliesWithAllValues,
        out InputError error
    )
    {
        batch = default;
        using DocumentParser parser = DocumentParser.Rent();
        using var writer = new BatchWriter(CommandKind.Batch, database, key, sizeHint: body.Length);
        using var reading = new Reading(writer, maxBatchBytes, formatLevel);
        parser.Keys.Reset();
        var scanner = new JsonScanner(body, position: 0, parser.Keys);
        bool isRead = reading.TryRead(ref scanner);
        repliesWithAllValues = reading.RepliesWithAllValues;
        if (!isRead || !System.Text.Unicode.Utf8.IsValid(body))
        {
            error = isRead
                ? InputErrors.InJson(InputErrorCode.InvalidUtf8, body, InputErrors.FirstInvalidUtf8(body))
                : reading.Explain(parser, scanner);
            return false;
        }

        error = default;
        int count = writer.Count;
        batch = new ParsedBatch(writer.Complete(), count);
        return true;
    }

    private sealed class Reading(BatchWriter writer, int maxBatchBytes, int formatLevel) : IDisposable
    {
        private readonly CounterOperationList _counters = new(formatLevel);
        private InputError _refusal;
        private int _element = -1; // position of the document that is being read

        public bool RepliesWithAllValues { get; private set; }

        public InputError Explain(DocumentParser parser, JsonScanner scanner)
        {
            var error =
                _refusal.IsError ? _refusal
                : _counters.Refusal.IsError ? _counters.Refusal
                : parser.Explain(scanner);
            return _element < 0 ? error : error with { Where = error.Where with { Element = _element } };
        }

        public void Dispose() => _counters.Release();

        public bool TryRead(scoped ref JsonScanner scanner)
        {
            if (!scanner.TryOpenObject())
            {
                return false;
            }

            bool first = true;
            bool hasDocuments = false;
            while (scanner.TryNextMember(ref first, out JsonSlice name))
            {
                var member = scanner.Text(name);
                byte next = scanner.Peek();
                int at = scanner.Position;
                bool isRead;
                if (member.SequenceEqual("Documents"u8) && next != (byte)'n')
                {
                    hasDocuments = isRead = TryReadDocuments(ref scanner);
                }
                else if (member.SequenceEqual("ReplyWithAllNodesValues"u8) && next is (byte)'t' or (byte)'f')
                {
                    RepliesWithAllValues = next == (byte)'t';
                    isRead = scanner.TryTakeLiteral(RepliesWithAllValues ? "true"u8 : "false"u8);
                }
                else if (member.SequenceEqual("FromEtl"u8) && next == (byte)'f')
                {
                    isRead = scanner.TryTakeLiteral("false"u8);
                }
                else
                {
                    isRead =
                        next == (byte)'n'
                            ? scanner.TryTakeLiteral("null"u8)
                            : Refuse(
                                InputErrorCode.NotSupported,
                                scanner,
                                at,
                                $"The member '{ShortText.Of(member, maxBytes: 64)}' of {Body} is not supported by this "
                                    + "version",
                                "Leave it out"
                            );
                }

                if (!isRead)
                {
                    return false;
                }
            }

            return scanner.Error == InputErrorCode.None
                && scanner.TryEnd()
                && (
                    hasDocuments
                    || Refuse(
                        InputErrorCode.MissingMember,
                        scanner,
                        at: 0,
                        "The body has no Documents",
                        "Send {\"Documents\":[…]}"
                    )
                );
        }

        private bool TryReadDocuments(scoped ref JsonScanner scanner)
        {
            if (!scanner.TryTake((byte)'['))
            {
                return false;
            }

            bool first = true;
            for (int i = 0; scanner.TryNextElement(ref first); i++)
            {
                _element = i;
                if (!TryReadDocument(ref scanner))
                {
                    return false;
                }
            }

            bool isRead = scanner.Error == InputErrorCode.None;
            _element = isRead ? -1 : _element;
            return isRead;
        }

        private bool TryReadDocument(scoped ref JsonScanner scanner)
        {
            _counters.Clear();
            _counters.LimitToRoomOf(writer, maxBatchBytes);
            scanner.Peek();
            int start = scanner.Position;
            if (!_counters.TryRead(ref scanner))
            {
                return false;
            }

            if (!DocumentId.TryValidate(_counters.DocumentId.Written, out var error))
            {
                return Refuse(error.Code, scanner, start, error.What, error.Advice);
            }

            writer.Counters(_counters.DocumentId.Written, _counters);
            return writer.Length <= maxBatchBytes
                || Refuse(
                    InputErrorCode.BatchTooLarge,
                    scanner,
                    start,
                    $"The batch takes more than {Amount.Bytes(maxBatchBytes)}",
                    "Send several batches, or use bulk insert"
                );
        }

        private bool Refuse(InputErrorCode code, JsonScanner scanner, int at, string what, string advice)
        {
            _refusal = InputErrors.InJson(code, scanner.Json, at, what, advice);
            return false;
        }
    }
}
