using System.Buffers.Binary;
using Rookery.Documents.Attachments;
using Rookery.Documents.Indexes;
using Rookery.Documents.Patching;
using Rookery.Documents.Schedules;
using Rookery.Documents.Subscriptions;
using Rookery.Platform;

namespace Rookery.Documents.Commands;

/// <summary>
/// Decodes a command without allocation; <see cref="CommandFormat"/> has the layout. Every method checks the lengths
/// that it reads, and throws <see cref="CommandFormatException"/> if the command is malformed.
/// </summary>
public ref struct CommandReader
{
    private readonly ReadOnlySpan<byte> _command;
    private readonly bool _numbersInDatabase;
    private int _position;
    private CommandId _groupId; // the id of the current group of operations on counters

    /// <summary>Reads a command's header.</summary>
    /// <param name="command">The encoded command.</param>
    /// <exception cref="CommandFormatException">The command has another version or an unknown kind, or is malformed
    /// although its checksum is right.</exception>
    public CommandReader(ReadOnlySpan<byte> command)
    {
        _command = command;
        byte version = ReadByte();
        if (version != CommandFormat.Version)
        {
            throw new CommandFormatException(
                $"A command has version {version}, and this program reads version {CommandFormat.Version}: "
                    + $"start the {(version > CommandFormat.Version ? "newer" : "older")} program that wrote it."
            );
        }

        Kind = (CommandKind)ReadByte();
        if (Kind is < CommandKind.Batch or > CommandKind.Redis)
        {
            throw new CommandFormatException(
                $"A command has kind {(int)Kind}, which this program does not know: start the newer program "
                    + $"that wrote it."
            );
        }

        byte flags = ReadByte();
        if ((flags & ~CommandFormat.HeaderFlags) != 0)
        {
            throw Broken();
        }

        Database = BinaryPrimitives.ReadUInt32LittleEndian(ReadBytes(4));
        OperationCount = ReadLength();
        if ((flags & CommandFormat.HeaderHasKey) != 0)
        {
            Key = IdempotencyKey.Read(ReadBytes(IdempotencyKey.Length));
            Request = RequestHash.Read(ReadBytes(RequestHash.Length));
        }

        SkipsUnchanged = (flags & CommandFormat.HeaderSkipsUnchanged) != 0;
        NamesContents = (flags & CommandFormat.HeaderNamesContents) != 0;
        ReservesEtags = (flags & CommandFormat.HeaderReservesEtags) != 0;
        _numbersInDatabase = (flags & CommandFormat.HeaderNumbersInDatabase) != 0;
        HasGuards = Kind == CommandKind.ClusterTransaction && (flags & CommandFormat.HeaderWithoutGuards) == 0;
    }

    /// <summary>The kind of the command.</summary>
    public readonly CommandKind Kind { get; }

    /// <summary>The database's number; 0 for commands on databases themselves.</summary>
    public readonly uint Database { get; }

    /// <summary>Number of operations plus reserved etags: the etags that the command uses, even if refused.</summary>
    public readonly int OperationCount { get; }

    /// <summary>Hash of the request's idempotency key, or none.</summary>
    public readonly IdempotencyKey Key { get; }

    /// <summary>Hash of the request, which a retry repeats (<see cref="RequestHash"/>); 0 without a key.</summary>
    public readonly UInt128 Request { get; }

    /// <summary>Batch, BulkPut: whether a put of an identical document keeps the stored version.</summary>
    public readonly bool SkipsUnchanged { get; }

    /// <summary>Whether the command contains hashes: it puts attachments, or versions with attachments.</summary>
    public readonly bool NamesContents { get; }

    /// <summary>Whether patches reserve etags for other documents that they may store or delete.</summary>
    public readonly bool ReservesEtags { get; }

    /// <summary>ClusterTransaction: whether atomic guards protect its documents.</summary>
    public readonly bool HasGuards { get; }

    /// <summary>Returns <see cref="NamesContents"/> of an encoded command. Reads only one byte.</summary>
    public static bool NamesContentsIn(ReadOnlySpan<byte> command) =>
        command.Length > CommandFormat.FlagsOffset
        && (command[CommandFormat.FlagsOffset] & CommandFormat.HeaderNamesContents) != 0;

    /// <summary>Batch, BulkPut, ClusterTransaction, CompareExchange: reads the next operation; false at end.</summary>
    public bool TryReadOperation(out Operation operation)
    {
        operation = default;
        if (_position == _command.Length)
        {
            return false;
        }

        byte kinds = ReadByte(); // the kind of the operation in the lower half, the kind of its id in the upper
        byte flags = ReadByte();
        var kind = (OperationKind)(kinds & 0x0F);
        if (
            kind is OperationKind.CounterIncrement or OperationKind.CounterDelete or OperationKind.CounterGet
            && (flags & CommandFormat.StartsGroup) == 0 // only the first operation of a group has the id
        )
        {
            operation = ReadCounter(kind, _groupId.Written.IsEmpty ? throw Broken() : _groupId, flags);
            return true;
        }

        ReadOnlySpan<byte> written = ReadShortBytes();
        ReadOnlySpan<byte> lower = (flags & CommandFormat.HasLowerId) == 0 ? default : ReadShortBytes();
        var id = new CommandId((CommandIdKind)(kinds >> 4), written, lower, _numbersInDatabase);
        ExpectedChangeVector expected = ReadExpectation(flags);
        operation = kind switch
        {
            OperationKind.Put => ReadPut(id, expected, flags),
            OperationKind.Delete => new Operation
            {
                Kind = kind,
                Id = id,
                Expected = expected,
            },
            OperationKind.Patch => ReadPatch(id, expected, flags),
            OperationKind.CompareExchangePut => ReadCompareExchangePut(id, flags),
            OperationKind.CompareExchangeDelete => new Operation
            {
                Kind = kind,
                Id = id,
                ExpectedIndex = ReadInt64(),
            },
            OperationKind.CounterIncrement or OperationKind.CounterDelete or OperationKind.CounterGet => ReadCounter(
                kind,
                id,
                flags
            ),
            OperationKind.AttachmentPut or OperationKind.AttachmentDelete or OperationKind.AttachmentCopy =>
                ReadAttachment(kind, id, expected),
            OperationKind.Revision => ReadRevision(id, expected),
            OperationKind.Version => ReadVersion(id, flags),
            _ => throw Broken(),
        };
        return true;
    }

    /// <summary>ExpireDocuments, ExpireCompareExchange: reads the next id or key, and its etag; false at end.</summary>
    public bool TryReadExpiry(out ReadOnlySpan<byte> lowerId, out long etag)
    {
        lowerId = default;
        etag = 0;
        if (_position == _command.Length)
        {
            return false;
        }

        etag = ReadInt64();
        lowerId = ReadShortBytes();
        return true;
    }

    /// <summary>RunSchedule: reads the action, which precedes the documents.</summary>
    public ScheduleAction ReadScheduleAction()
    {
        var action = (ScheduleAction)ReadByte();
        return action is >= ScheduleAction.Refresh and <= ScheduleAction.Register ? action : throw Broken();
    }

    /// <summary>RunSchedule: reads the next document; false at the end.</summary>
    public bool TryReadScheduled(out ScheduledDocument document)
    {
        document = default;
        if (_position == _command.Length)
        {
            return false;
        }

        document = new ScheduledDocument
        {
            Etag = ReadInt64(),
            DueTicks = ReadInt64(),
            LowerId = ReadShortBytes(),
        };
        return true;
    }

    /// <summary>DeleteDatabases: reads the next lower-cased name; false at the end.</summary>
    public bool TryReadName(out ReadOnlySpan<byte> name)
    {
        name = default;
        if (_position == _command.Length)
        {
            return false;
        }

        name = ReadPrefixedBytes();
        return true;
    }

    /// <summary>SetClusterRecords: reads the next record; false at the end.</summary>
    public bool TryReadRecord(out ClusterRecordCommand record)
    {
        record = default;
        if (_position == _command.Length)
        {
            return false;
        }

        byte flags = ReadByte();
        bool hasExpectation = (flags & ClusterRecordWriter.HasExpectation) != 0;
        bool hasValue = (flags & ClusterRecordWriter.HasValue) != 0;
        record = new ClusterRecordCommand
        {
            HasExpectation = hasExpectation,
            ExpectedVersion = hasExpectation ? ReadInt64() : 0,
            Key = ReadPrefixedBytes(),
            IsDelete = !hasValue,
            Value = hasValue ? ReadPrefixedBytes() : default,
        };
        return true;
    }

    /// <summary>ChangeIndexes: reads the next index; false at the end.</summary>
    public bool TryReadIndex(out IndexCommand index)
    {
        index = default;
        if (_position == _command.Length)
        {
            return false;
        }

        ReadOnlySpan<byte> head = ReadBytes(IndexWriter.HeadBytes); // IndexWriter has the layout
        var kind = (IndexCommandKind)head[0];
        byte changedSettings = head[1];
        if (
            kind is < IndexCommandKind.Put or > IndexCommandKind.Configure
            || head[2] > (byte)IndexLockMode.LockedError
            || head[3] > (byte)IndexPriority.High
        )
        {
            throw Broken();
        }

        index = new IndexCommand
        {
            Kind = kind,
            Settings = new IndexSettingsChange(
                (changedSettings & IndexWriter.ChangesLockMode) == 0 ? null : (IndexLockMode)head[2],
                (changedSettings & IndexWriter.ChangesPriority) == 0 ? null : (IndexPriority)head[3],
                (changedSettings & IndexWriter.ChangesState) == 0 ? null : head[4] != 0
            ),
            LowerName = ReadPrefixedBytes(),
            Name = kind == IndexCommandKind.Put ? ReadPrefixedBytes() : default,
            Definition = kind == IndexCommandKind.Put ? ReadPrefixedBytes() : default,
        };
        return true;
    }

    /// <summary>Reads the body of a <see cref="CommandKind.ChangeSubscription"/>.</summary>
    public SubscriptionCommand ReadSubscription()
    {
        ReadOnlySpan<byte> head = ReadBytes(SubscriptionWriter.HeadBytes);
        var kind = (SubscriptionCommandKind)head[0];
        byte flags = head[1];
        if (
            kind is < SubscriptionCommandKind.Put or > SubscriptionCommandKind.Drop
            || head[2] > (byte)SubscriptionStart.LastDocument
        )
        {
            throw Broken();
        }

        return new SubscriptionCommand
        {
            Kind = kind,
            ChangesMentor = (flags & SubscriptionWriter.ChangesMentor) != 0,
            IsPinned = (flags & SubscriptionWriter.ChangesPin) == 0 ? null : (flags & SubscriptionWriter.Pinned) != 0,
            IsDisabled =
                (flags & SubscriptionWriter.ChangesState) == 0 ? null : (flags & SubscriptionWriter.Disabled) != 0,
            Creates = (flags & SubscriptionWriter.Creates) != 0,
            MustBeNew = (flags & SubscriptionWriter.MustBeNew) != 0,
            StartKind = (SubscriptionStart)head[2],
            Number = BinaryPrimitives.ReadInt64LittleEndian(head[3..]),
            Start = BinaryPrimitives.ReadInt64LittleEndian(head[11..]),
            Expected = BinaryPrimitives.ReadInt64LittleEndian(head[19..]),
            ConnectedTicks = BinaryPrimitives.ReadInt64LittleEndian(head[27..]),
            Version = BinaryPrimitives.ReadInt64LittleEndian(head[35..]),
            LowerName = ReadPrefixedBytes(),
            Name = ReadPrefixedBytes(),
            Mentor = ReadPrefixedBytes(),
            Query = ReadPrefixedBytes(),
        };
    }

    /// <summary>Reads the body of a <see cref="CommandKind.HiloNext"/>.</summary>
    public HiloNextCommand ReadHiloNext() =>
        new()
        {
            LastBatchSize = ReadInt64(),
            LastRangeAtTicks = ReadInt64(),
            LastMax = ReadInt64(),
            Separator = ReadByte(),
            Tag = ReadPrefixedBytes(),
            LowerTag = ReadPrefixedBytes(),
            KeepsMetadata = _numbersInDatabase,
        };

    /// <summary>Reads the body of a <see cref="CommandKind.HiloReturn"/>.</summary>
    public HiloReturnCommand ReadHiloReturn() =>
        new()
        {
            Last = ReadInt64(),
            End = ReadInt64(),
            Tag = ReadPrefixedBytes(),
            LowerTag = ReadPrefixedBytes(),
            KeepsMetadata = _numbersInDatabase,
        };

    /// <summary>Reads the name in a <see cref="CommandKind.IdentityNext"/>.</summary>
    public ReadOnlySpan<byte> ReadIdentityNext() => ReadPrefixedBytes();

    /// <summary>Reads the body of an <see cref="CommandKind.IdentitySeed"/>.</summary>
    public IdentitySeedCommand ReadIdentitySeed() =>
        new()
        {
            Value = ReadInt64(),
            IsForced = ReadByte() != 0,
            Name = ReadPrefixedBytes(),
        };

    /// <summary>Reads the body of a <see cref="CommandKind.CreateDatabase"/>.</summary>
    public CreateDatabaseCommand ReadCreateDatabase() =>
        new()
        {
            Name = ReadPrefixedBytes(),
            HistoryId = ReadPrefixedBytes(),
            LowerName = ReadPrefixedBytes(),
        };

    /// <summary>Reads the etag in a <see cref="CommandKind.SetTombstoneHorizon"/>.</summary>
    public long ReadTombstoneHorizon() => ReadInt64();

    /// <summary>PutClientConfiguration (JSON), ConfigureRevisions (binary): reads the configuration.</summary>
    public ReadOnlySpan<byte> ReadConfiguration() => ReadPrefixedBytes();

    /// <summary>Reads the body of a <see cref="CommandKind.SetConfiguration"/>.</summary>
    public SetConfigurationCommand ReadSetConfiguration()
    {
        long expectedEtag = ReadInt64(); // -1 for any
        return new SetConfigurationCommand
        {
            HasExpectation = expectedEtag >= 0,
            ExpectedEtag = expectedEtag,
            Name = ReadPrefixedBytes(),
            Json = ReadPrefixedBytes(),
        };
    }

    /// <summary>Returns the body of a <see cref="CommandKind.Redis"/>.</summary>
    public readonly ReadOnlySpan<byte> ReadRedis() => _command[_position..];

    /// <summary>Reads the new history id in a <see cref="CommandKind.RenewHistory"/>.</summary>
    public ReadOnlySpan<byte> ReadRenewHistory() => ReadPrefixedBytes();

    private Operation ReadCounter(OperationKind kind, CommandId id, byte flags)
    {
        _groupId = (flags & CommandFormat.EndsGroup) == 0 ? id : default;
        ReadOnlySpan<byte> name = ReadShortBytes();
        ReadOnlySpan<byte> lower = (flags & CommandFormat.HasLowerCounter) == 0 ? default : ReadShortBytes();
        return new Operation
        {
            Kind = kind,
            Id = id,
            Counter = new CommandId(CommandIdKind.Literal, name, lower),
            Delta = kind == OperationKind.CounterIncrement ? ReadInt64() : 0,
            StartsGroup = (flags & CommandFormat.StartsGroup) != 0,
            EndsGroup = (flags & CommandFormat.EndsGroup) != 0,
        };
    }

    private Operation ReadCompareExchangePut(CommandId key, byte flags)
    {
        long index = ReadInt64();
        var put = ReadPut(key, ExpectedChangeVector.None, flags);
        return new Operation
        {
            Kind = OperationKind.CompareExchangePut,
            Id = key,
            ExpectedIndex = index,
            Content = put.Content,
            ExpiresAtTicks = put.ExpiresAtTicks,
        };
    }

    private Operation ReadAttachment(OperationKind kind, CommandId id, ExpectedChangeVector expected)
    {
        int start = _position; // of the encoded attachment, which is skipped here and decoded on access
        _ =
            kind == OperationKind.AttachmentCopy
                ? ReadBytes(AttachmentCopyCommand.Measure(_command[_position..]))
                : ReadShortBytes();
        if (kind == OperationKind.AttachmentPut)
        {
            if (!NamesContents)
            {
                throw Broken(); // without the flag, members would append the entry without its content
            }

            ReadShortBytes();
            ReadBytes(sizeof(long) + ContentHash.Length);
        }

        var bytes = _command[start.._position];
        return new()
        {
            Kind = kind,
            Id = id,
            Expected = expected,
            EncodedPart = bytes,
        };
    }

    private Operation ReadVersion(CommandId id, byte flags)
    {
        var version = ReadBytes(VersionCommand.Measure(_command[_position..]));
        if (!NamesContents && !VersionCommand.Decode(version).Attachments.IsEmpty)
        {
            throw Broken(); // members would append the entry without its contents
        }

        var put = ReadPut(id, ExpectedChangeVector.None, flags);
        return put with { Kind = OperationKind.Version, EncodedPart = version };
    }

    private Operation ReadRevision(CommandId id, ExpectedChangeVector expected)
    {
        var action = (RevisionAction)ReadByte();
        RevisionCommand command = action switch
        {
            RevisionAction.Force => new RevisionCommand { Action = action },
            RevisionAction.Revert => new RevisionCommand { Action = action, Etag = ReadInt64() },
            RevisionAction.Enforce => new RevisionCommand { Action = action, IncludesForced = ReadByte() != 0 },
            RevisionAction.Delete => new RevisionCommand
            {
                Action = action,
                IncludesForced = ReadByte() != 0,
                Etag = ReadInt64(),
                FromTicks = ReadInt64(),
                ToTicks = ReadInt64(),
                Etags = ReadPrefixedBytes(),
            },
            _ => throw Broken(),
        };
        return new Operation
        {
            Kind = OperationKind.Revision,
            Id = id,
            Expected = expected,
            Revision = command,
        };
    }

    private Operation ReadPut(CommandId id, ExpectedChangeVector expected, byte flags)
    {
        long expires = (flags & CommandFormat.HasExpiry) == 0 ? 0 : ReadInt64();
        ReadOnlySpan<byte> content = ReadBytes(ReadLength());
        int at = 0;
        if (!Varint.TryReadBytes(content, ref at, out ReadOnlySpan<byte> collection))
        {
            throw Broken();
        }

        return new Operation
        {
            Kind = OperationKind.Put,
            Id = id,
            Expected = expected,
            Content = content,
            Collection = collection,
            ExpiresAtTicks = expires,
            ForcesRevision = (flags & CommandFormat.ForcesRevision) != 0,
        };
    }

    private Operation ReadPatch(CommandId id, ExpectedChangeVector expected, byte flags) =>
        new()
        {
            Kind = OperationKind.Patch,
            Id = id,
            Expected = expected,
            Patch = new PatchProgram
            {
                Bytes = ReadBytes(ReadLength()),
                ReturnsDocument = (flags & CommandFormat.ReturnsDocument) != 0,
                SkipsOnMismatch = (flags & CommandFormat.SkipsOnMismatch) != 0,
            },
        };

    private ExpectedChangeVector ReadExpectation(byte flags) =>
        (Expectation)(flags & CommandFormat.ExpectationMask) switch
        {
            Expectation.Anything => ExpectedChangeVector.None,
            Expectation.MustNotExist => ExpectedChangeVector.MustNotExist,
            Expectation.MustEqual => ExpectedChangeVector.MustEqual(ReadBytes(ReadByte())),
            _ => throw Broken(),
        };

    private ReadOnlySpan<byte> ReadBytes(int count)
    {
        if (count > _command.Length - _position)
        {
            throw Broken();
        }

        ReadOnlySpan<byte> bytes = _command.Slice(_position, count);
        _position += count;
        return bytes;
    }

    private byte ReadByte() => ReadBytes(1)[0];

    private long ReadInt64() => BinaryPrimitives.ReadInt64LittleEndian(ReadBytes(8));

    private int ReadLength()
    {
        int length = BinaryPrimitives.ReadInt32LittleEndian(ReadBytes(4));
        return length >= 0 ? length : throw Broken();
    }

    // Reads bytes after their length, a u16.
    private ReadOnlySpan<byte> ReadShortBytes() => ReadBytes(BinaryPrimitives.ReadUInt16LittleEndian(ReadBytes(2)));

    private ReadOnlySpan<byte> ReadPrefixedBytes() =>
        Varint.TryReadBytes(_command, ref _position, out ReadOnlySpan<byte> bytes) ? bytes : throw Broken();

    private static CommandFormatException Broken() =>
        new(
            "A command does not decode although its checksum is right: a bug or a newer version wrote it. Keep "
                + "the data directory and report it."
        );
}
