using System.Buffers.Binary;
using Rookery.Documents.Ids;
using Rookery.Documents.Nodes;
using Rookery.Documents.Parsing;
using Rookery.Json;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>
/// Reads what a request does with the counters of one document: <c>{"DocumentId":"users/1","Operations":[{"Type":
/// "Increment","CounterName":"Likes","Delta":1},…]}</c>. Types are Increment, Delete and Get.
/// </summary>
/// <param name="formatLevel">The cluster's format level; below <see cref="FormatLevel.Counters"/> operations are
/// refused.</param>
/// <param name="acceptsGet">Whether operations may read counters.</param>
internal sealed class CounterOperationList(int formatLevel, bool acceptsGet = true)
{
    // Bytes of an operation in a command besides the name: kind, flags, lengths of the name and of its lower-cased
    // form, delta.
    private const int CommandHeadBytes = 2 + (2 * sizeof(ushort)) + sizeof(long);

    // Bytes of a group in a command besides its operations and the id.
    private const int GroupHeadBytes = 2 * sizeof(ushort);

    // An operation: [kind u8][delta i64][length of the name u16][name].
    private const int HeadBytes = 1 + sizeof(long) + sizeof(ushort);

    private readonly PooledBytes _operations = new();
    private readonly PooledBytes _name = new();
    private readonly PooledBytes _innerId = new(); // the DocumentId of the first operation that has one
    private readonly PooledBytes _nextInnerId = new();
    private int _maxCount = int.MaxValue;
    private long _maxBytes = long.MaxValue;
    private int _maxBatchBytes;

    /// <summary>The document's id; empty if the text names none.</summary>
    public PooledBytes DocumentId { get; } = new();

    /// <summary>Number of operations.</summary>
    public int Count { get; private set; }

    /// <summary>
    /// Upper bound of the bytes that the operations take in a command, without the document's id.
    /// </summary>
    public long Bytes { get; private set; }

    /// <summary>Whether <see cref="TryRead"/> was called since the last <see cref="Clear"/>.</summary>
    public bool IsRead { get; private set; }

    /// <summary>The reason for a refusal.</summary>
    public InputError Refusal { get; private set; }

    /// <summary>
    /// Checks that the DocumentId of the counters and those of their operations, if they are sent, equal the id of the
    /// command.
    /// </summary>
    /// <param name="id">The document's id in the command.</param>
    /// <param name="scanner">The scanner of the text.</param>
    /// <param name="start">Offset of the command, for the refusal.</param>
    public bool IsOf(ReadOnlySpan<byte> id, JsonScanner scanner, int start)
    {
        bool isSame = IsNoneOrSame(DocumentId.Written, id) && IsNoneOrSame(_innerId.Written, id);
        return isSame
            || Refuse(
                InputErrorCode.InvalidId,
                scanner,
                start,
                "The DocumentId of the Counters differs from the command's Id",
                "Send the same id twice"
            );
    }

    /// <summary>
    /// Returns an upper bound of the bytes that a group takes in a command besides its operations: the id and its
    /// lower-cased form.
    /// </summary>
    public static int GroupBytes(ReadOnlySpan<byte> id) =>
        GroupHeadBytes + id.Length + (System.Text.Ascii.IsValid(id) ? 0 : Ids.DocumentId.MaxBytes);

    /// <summary>
    /// Limits the operations that are read to the room that a batch has left, so that the operations and their command
    /// stay within the batch's memory.
    /// </summary>
    /// <param name="writer">The batch.</param>
    /// <param name="maxBatchBytes">Maximum length of the batch.</param>
    public void LimitToRoomOf(BatchWriter writer, int maxBatchBytes)
    {
        _maxBatchBytes = maxBatchBytes;
        _maxCount = DocumentLimits.BatchCommands(maxBatchBytes) - writer.Count;
        _maxBytes = maxBatchBytes - writer.Length;
    }

    /// <summary>Forgets what was read.</summary>
    public void Clear()
    {
        _operations.Clear();
        _innerId.Clear();
        DocumentId.Clear();
        Count = 0;
        Bytes = 0;
        IsRead = false;
        Refusal = default;
    }

    /// <summary>Releases the buffers.</summary>
    public void Release()
    {
        _operations.Release();
        _name.Release();
        _innerId.Release();
        _nextInnerId.Release();
        DocumentId.Release();
    }

    /// <summary>Adds an operation.</summary>
    /// <param name="kind">CounterIncrement, CounterDelete or CounterGet.</param>
    /// <param name="name">The counter's name: <see cref="CounterName"/> accepts it.</param>
    /// <param name="delta">The number to add.</param>
    public void Add(OperationKind kind, ReadOnlySpan<byte> name, long delta)
    {
        var head = _operations.Reserve(HeadBytes);
        head[0] = (byte)kind;
        BinaryPrimitives.WriteInt64LittleEndian(head[1..], delta);
        BinaryPrimitives.WriteUInt16LittleEndian(head[(1 + sizeof(long))..], (ushort)name.Length);
        _operations.Advance(HeadBytes);
        _operations.Append(name);
        Count++;
        Bytes += BytesOf(name);
    }

    /// <summary>Walks over the operations.</summary>
    /// <param name="offset">Where to begin: 0 or <see cref="Cursor.Offset"/> of an earlier walk.</param>
    public Cursor Read(int offset = 0) => new(_operations.Written, offset);

    /// <summary>Returns an upper bound of the bytes that an operation takes in a command.</summary>
    public static int BytesOf(ReadOnlySpan<byte> name) =>
        CommandHeadBytes + name.Length + (System.Text.Ascii.IsValid(name) ? 0 : CounterName.MaxBytes);

    /// <summary>Reads the object at the scanner's next token.</summary>
    public bool TryRead(scoped ref JsonScanner scanner)
    {
        scanner.Peek();
        int start = scanner.Position;
        IsRead = true;
        if (formatLevel < FormatLevel.Counters)
        {
            return Refuse(
                InputErrorCode.NotSupported,
                scanner,
                start,
                "Operations on counters are refused while members may return to the previous version, which cannot "
                    + "read them",
                "When all members run the new version, end the upgrade: `rookery cluster finalize-upgrade`"
            );
        }

        if (!scanner.TryOpenObject())
        {
            return false;
        }

        bool first = true;
        while (scanner.TryNextMember(ref first, out JsonSlice name))
        {
            var member = scanner.Text(name);
            bool isRead =
                member.SequenceEqual("Operations"u8) ? TryReadOperations(ref scanner)
                : member.SequenceEqual("DocumentId"u8) ? TryReadText(ref scanner, DocumentId)
                : TrySkipNull(ref scanner, member, "the counters of a document");
            if (!isRead)
            {
                return false;
            }
        }

        if (scanner.Error != InputErrorCode.None)
        {
            return false;
        }

        // The id is checked after the operations, because it may follow them in the request.
        if (DocumentId.Length > 0 && !IsNoneOrSame(_innerId.Written, DocumentId.Written))
        {
            return RefuseInnerId(scanner, start);
        }

        return Count > 0
            || Refuse(
                InputErrorCode.MissingMember,
                scanner,
                start,
                "There are no Operations on the counters",
                "Send at least one: {\"Type\":\"Increment\",\"CounterName\":…,\"Delta\":1}"
            );
    }

    private bool TryReadOperations(scoped ref JsonScanner scanner)
    {
        if (!scanner.TryTake((byte)'['))
        {
            return false;
        }

        bool first = true;
        while (scanner.TryNextElement(ref first))
        {
            if (!TryReadOperation(ref scanner))
            {
                return false;
            }
        }

        return scanner.Error == InputErrorCode.None;
    }

    private bool TryReadOperation(scoped ref JsonScanner scanner)
    {
        _name.Clear();
        scanner.Peek();
        int start = scanner.Position;
        if (!scanner.TryOpenObject())
        {
            return false;
        }

        OperationKind kind = default;
        long? delta = null;
        bool first = true;
        while (scanner.TryNextMember(ref first, out JsonSlice slice))
        {
            var member = scanner.Text(slice);
            bool isRead =
                member.SequenceEqual("Type"u8) ? TryReadType(ref scanner, out kind)
                : member.SequenceEqual("CounterName"u8) ? TryReadText(ref scanner, _name)
                : member.SequenceEqual("Delta"u8) ? TryReadDelta(ref scanner, out delta)
                : member.SequenceEqual("DocumentId"u8) ? TryReadInnerId(ref scanner)
                : TrySkipNull(ref scanner, member, "an operation on a counter");
            if (!isRead)
            {
                return false;
            }
        }

        return scanner.Error == InputErrorCode.None && TryAdd(scanner, start, kind, delta);
    }

    private bool TryReadInnerId(scoped ref JsonScanner scanner)
    {
        scanner.Peek();
        int start = scanner.Position;
        if (!TryReadText(ref scanner, _nextInnerId))
        {
            return false;
        }

        if (_innerId.Length == 0)
        {
            _innerId.Append(_nextInnerId.Written);
        }

        return IsNoneOrSame(_nextInnerId.Written, _innerId.Written) || RefuseInnerId(scanner, start);
    }

    private bool RefuseInnerId(JsonScanner scanner, int at) =>
        Refuse(
            InputErrorCode.InvalidId,
            scanner,
            at,
            "The DocumentId of an operation differs from that of its document",
            "Send the operations of each document as an element of their own, and leave DocumentId out in them"
        );

    // Compares an optional id with another id, without case.
    private static bool IsNoneOrSame(ReadOnlySpan<byte> optional, ReadOnlySpan<byte> id)
    {
        if (optional.IsEmpty)
        {
            return true;
        }

        Span<byte> lowerOptional = stackalloc byte[Ids.DocumentId.MaxBytes];
        Span<byte> lowerId = stackalloc byte[Ids.DocumentId.MaxBytes];
        return Ids.DocumentId.TryToLower(optional, lowerOptional, out int optionalLength)
            && Ids.DocumentId.TryToLower(id, lowerId, out int length)
            && lowerOptional[..optionalLength].SequenceEqual(lowerId[..length]);
    }

    private bool TryAdd(JsonScanner scanner, int start, OperationKind kind, long? delta)
    {
        if (kind == default)
        {
            return Refuse(
                InputErrorCode.MissingMember,
                scanner,
                start,
                "The operation on a counter has no Type",
                "Send Increment, Delete or Get"
            );
        }

        // As in GET counters, a null name is allowed. It is read as an empty name, which no counter has.
        bool isNoName = kind == OperationKind.CounterGet && _name.Length == 0;
        if (!CounterName.TryValidate(_name.Written, out var error) && !isNoName)
        {
            return Refuse(error.Code, scanner, start, error.What, error.Advice);
        }

        if (kind == OperationKind.CounterIncrement && delta is null)
        {
            return Refuse(
                InputErrorCode.MissingMember,
                scanner,
                start,
                "The increment of a counter has no Delta",
                "Send the number to add, a whole number"
            );
        }

        if (kind == OperationKind.CounterGet && !acceptsGet)
        {
            return Refuse(
                InputErrorCode.NotSupported,
                scanner,
                start,
                "Operations of type 'Get' on counters have no answer in a bulk insert",
                "Read the counters with GET counters"
            );
        }

        Add(kind, _name.Written, delta ?? 0);
        return (Count <= _maxCount && Bytes <= _maxBytes)
            || Refuse(
                InputErrorCode.BatchTooLarge,
                scanner,
                start,
                $"The batch takes more than {Amount.Bytes(_maxBatchBytes)}, or holds more than "
                    + $"{DocumentLimits.BatchCommands(_maxBatchBytes)} operations",
                "Send several batches, or use bulk insert"
            );
    }

    private bool TryReadType(scoped ref JsonScanner scanner, out OperationKind kind)
    {
        kind = default;
        scanner.Peek();
        int start = scanner.Position;
        if (!scanner.TryReadString(out JsonSlice slice))
        {
            return false;
        }

        var type = scanner.Text(slice);
        kind =
            type.SequenceEqual("Increment"u8) ? OperationKind.CounterIncrement
            : type.SequenceEqual("Delete"u8) ? OperationKind.CounterDelete
            : type.SequenceEqual("Get"u8) ? OperationKind.CounterGet
            : default;
        return kind != default
            || Refuse(
                InputErrorCode.NotSupported,
                scanner,
                start,
                $"Operations of type '{ShortText.Of(type, maxBytes: 64)}' on counters are not supported by this "
                    + "version",
                "Send Increment, Delete or Get"
            );
    }

    private bool TryReadDelta(scoped ref JsonScanner scanner, out long? delta)
    {
        delta = null;
        if (scanner.Peek() == (byte)'n')
        {
            return scanner.TryTakeLiteral("null"u8);
        }

        int start = scanner.Position;
        if (!scanner.TrySkipValue(levels: 1))
        {
            return false;
        }

        var text = scanner.Json[start..scanner.Position];
        if (System.Buffers.Text.Utf8Parser.TryParse(text, out long number, out int read) && read == text.Length)
        {
            delta = number;
            return true;
        }

        return Refuse(
            InputErrorCode.WrongType,
            scanner,
            start,
            "The Delta of a counter must be a whole number of 64 bits",
            "Send for instance 1 or -1"
        );
    }

    private static bool TryReadText(scoped ref JsonScanner scanner, PooledBytes text)
    {
        text.Clear();
        if (scanner.Peek() == (byte)'n')
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

    private bool TrySkipNull(scoped ref JsonScanner scanner, ReadOnlySpan<byte> member, string where)
    {
        if (scanner.Peek() == (byte)'n')
        {
            return scanner.TryTakeLiteral("null"u8);
        }

        return Refuse(
            InputErrorCode.NotSupported,
            scanner,
            scanner.Position,
            $"The member '{ShortText.Of(member, maxBytes: 64)}' of {where} is not supported by this version",
            "Leave it out"
        );
    }

    private bool Refuse(InputErrorCode code, JsonScanner scanner, int at, string what, string advice)
    {
        Refusal = InputErrors.InJson(code, scanner.Json, at, what, advice);
        return false;
    }

    /// <summary>Walks over operations.</summary>
    /// <param name="operations">The encoded operations.</param>
    /// <param name="offset">Where to begin.</param>
    public ref struct Cursor(ReadOnlySpan<byte> operations, int offset)
    {
        private readonly ReadOnlySpan<byte> _operations = operations;

        /// <summary>Offset at which a later walk continues after the current operation.</summary>
        public int Offset { get; private set; } = offset;

        /// <summary>Kind of the current operation.</summary>
        public OperationKind Kind { get; private set; }

        /// <summary>The number that the current operation adds.</summary>
        public long Delta { get; private set; }

        /// <summary>The counter's name.</summary>
        public ReadOnlySpan<byte> Name { get; private set; }

        /// <summary>Moves to the next operation.</summary>
        public bool MoveNext()
        {
            if (Offset == _operations.Length)
            {
                return false;
            }

            var operation = _operations[Offset..];
            Kind = (OperationKind)operation[0];
            Delta = BinaryPrimitives.ReadInt64LittleEndian(operation[1..]);
            int length = BinaryPrimitives.ReadUInt16LittleEndian(operation[(1 + sizeof(long))..]);
            Name = operation.Slice(HeadBytes, length);
            Offset += HeadBytes + length;
            return true;
        }
    }
}
