using System.Buffers.Binary;
using Rookery.Documents.Commands;
using Rookery.Platform;

namespace Rookery.Documents.Redis;

/// <summary>
/// Encodes a <see cref="CommandKind.Redis"/>: commands that arrived together, or a transaction. Each has its own reply,
/// and the error of one does not undo the others. Create the writer, add guards, then commands, and complete it.
/// </summary>
/// <remarks>
/// After the header: <c>[guards u32]</c> and for each <c>[key length varint][key][version i64]</c>, then for each
/// command <c>[opcode u8][arguments varint]</c> and for each argument <c>[length varint][bytes]</c>. The arguments are
/// those of the client, without the command's name.
/// </remarks>
public sealed class RedisCommandWriter : IDisposable
{
    /// <summary>
    /// Etags that a write of one key may need: to delete the expired version with its attachments, and to store the new
    /// one.
    /// </summary>
    private const int EtagsPerKey = 2;

    private CommandBuffer? _buffer;
    private int _guards;
    private readonly int _guardsOffset;
    private long _etags;

    /// <summary>Begins a command.</summary>
    /// <param name="database">The database's number.</param>
    public RedisCommandWriter(uint database)
    {
        Database = database;
        _buffer = CommandBuffer.Rent();
        CommandFormat.WriteHeader(_buffer, CommandKind.Redis, database, operations: 0, key: default);
        _guardsOffset = _buffer.Length;
        _buffer.GetSpan(GuardCountBytes)[..GuardCountBytes].Clear();
        _buffer.Advance(GuardCountBytes);
    }

    /// <summary>The database's number.</summary>
    public uint Database { get; }

    /// <summary>The encoded commands so far, for <see cref="OfPart"/>; only of a writer without guards.</summary>
    public ReadOnlySpan<byte> Body => Buffer.Written.Span[_guardsOffset..];

    /// <summary>Number of commands added.</summary>
    public int Count { get; private set; }

    /// <summary>Length so far in bytes: keep it within <see cref="Parsing.DocumentLimits.MaxBatchBytes"/>.</summary>
    public int Length => Buffer.Length;

    internal const int GuardCountBytes = sizeof(int);

    private CommandBuffer Buffer => _buffer ?? throw new ObjectDisposedException(nameof(RedisCommandWriter));

    /// <summary>Begins a command with some of another's commands.</summary>
    /// <param name="database">The database's number.</param>
    /// <param name="body">The <see cref="Body"/> of a writer without guards.</param>
    /// <param name="skip">Number of commands to leave out.</param>
    /// <param name="count">Number of commands to add after these.</param>
    public static RedisCommandWriter OfPart(uint database, ReadOnlySpan<byte> body, int skip, int count)
    {
        var writer = new RedisCommandWriter(database);
        var reader = new RedisCommandReader(body);
        var slices = new RedisSlice[16];
        for (int i = 0; i < skip + count; i++)
        {
            Invariant.Holds(
                reader.TryReadCommand(ref slices, out var opcode, out var arguments),
                "a part of a command has no more commands than the whole"
            );
            if (i >= skip && RedisCommandTable.Find(opcode) is { } command)
            {
                writer.Append(command, arguments);
            }
        }

        return writer;
    }

    /// <summary>
    /// Adds a guard, before the first command. If the key does not have this version at apply, nothing is carried out:
    /// see <see cref="RedisOutcome.IsAborted"/>.
    /// </summary>
    /// <param name="key">The key, whose id is not too long.</param>
    /// <param name="version">The version that <see cref="RedisReader.ReadVersion"/> returned.</param>
    public void Watch(ReadOnlySpan<byte> key, long version)
    {
        Invariant.Holds(Count == 0, "guards precede the commands");
        AppendBytes(key);
        BinaryPrimitives.WriteInt64LittleEndian(Buffer.GetSpan(sizeof(long)), version);
        Buffer.Advance(sizeof(long));
        _guards++;
    }

    /// <summary>Adds a command.</summary>
    /// <param name="command">A data command that <see cref="RedisCommandInfo.RunsInLog"/>.</param>
    /// <param name="arguments">The arguments without the name.</param>
    public void Append(RedisCommandInfo command, RedisArguments arguments)
    {
        Invariant.Holds(command.RunsInLog, "the log contains data commands that do not walk over all keys");
        var head = Buffer.GetSpan(1 + Varint.MaxBytes32);
        head[0] = (byte)command.Opcode;
        Buffer.Advance(1 + Varint.Write(head[1..], (uint)arguments.Count));
        for (int i = 0; i < arguments.Count; i++)
        {
            AppendBytes(arguments[i]);
        }

        _etags += EtagsOf(command, arguments.Count);
        Count++;
    }

    /// <summary>Finishes the command; the caller owns the buffer.</summary>
    public CommandBuffer Complete()
    {
        var complete = Buffer;
        _buffer = null;
        BinaryPrimitives.WriteInt32LittleEndian(
            complete.WrittenSpan[CommandFormat.OperationCountOffset..],
            checked((int)Math.Max(_etags, 1))
        );
        BinaryPrimitives.WriteInt32LittleEndian(complete.WrittenSpan[_guardsOffset..], _guards);
        return complete;
    }

    /// <summary>Releases the buffer unless <see cref="Complete"/> returned it.</summary>
    public void Dispose()
    {
        _buffer?.Dispose();
        _buffer = null;
    }

    private static long EtagsOf(RedisCommandInfo command, int arguments) =>
        command.IsWrite ? EtagsPerKey * (long)command.CountKeys(arguments) : 0;

    private void AppendBytes(ReadOnlySpan<byte> bytes)
    {
        var span = Buffer.GetSpan(Varint.MaxBytes32 + bytes.Length);
        Buffer.Advance(Varint.WriteBytes(span, bytes));
    }
}
