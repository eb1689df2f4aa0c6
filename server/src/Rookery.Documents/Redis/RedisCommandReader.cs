using System.Buffers.Binary;
using Rookery.Documents.Commands;
using Rookery.Platform;

namespace Rookery.Documents.Redis;

/// <summary>Decodes what <see cref="RedisCommandWriter"/> encodes after the header. Checks every length.</summary>
internal ref struct RedisCommandReader
{
    private readonly ReadOnlySpan<byte> _body;
    private int _position;

    /// <summary>Begins to read.</summary>
    /// <param name="body">The command after its header.</param>
    public RedisCommandReader(ReadOnlySpan<byte> body)
    {
        _body = body;
        Guards = BinaryPrimitives.ReadInt32LittleEndian(Read(RedisCommandWriter.GuardCountBytes));
    }

    /// <summary>Number of guards.</summary>
    public int Guards { get; }

    /// <summary>Whether all commands were read.</summary>
    public readonly bool IsAtEnd => _position == _body.Length;

    /// <summary>Reads a guard; call it <see cref="Guards"/> times before the first command.</summary>
    /// <param name="version">The version that the key must have: its etag; 0 or negative if the key must not have
    /// existed since the etag with the opposite sign.</param>
    /// <returns>The key.</returns>
    public ReadOnlySpan<byte> ReadGuard(out long version)
    {
        var key = ReadBytes();
        version = BinaryPrimitives.ReadInt64LittleEndian(Read(sizeof(long)));
        return key;
    }

    /// <summary>Reads the next command; false at the end.</summary>
    /// <param name="slices">Memory for the places of the arguments.</param>
    /// <param name="opcode">The opcode.</param>
    /// <param name="arguments">The arguments; valid until the next call.</param>
    public bool TryReadCommand(scoped ref RedisSlice[] slices, out RedisOpcode opcode, out RedisArguments arguments)
    {
        opcode = RedisOpcode.None;
        arguments = default;
        if (_position == _body.Length)
        {
            return false;
        }

        opcode = (RedisOpcode)Read(1)[0];
        if (!Varint.TryRead(_body, ref _position, out int count) || count > _body.Length - _position)
        {
            throw Broken();
        }

        if (slices.Length < count)
        {
            slices = new RedisSlice[Math.Max(count, 2 * slices.Length)];
        }

        for (int i = 0; i < count; i++)
        {
            int length = ReadBytes().Length;
            slices[i] = new RedisSlice(_position - length, length);
        }

        arguments = new RedisArguments(_body, slices.AsSpan(0, count));
        return true;
    }

    private ReadOnlySpan<byte> ReadBytes() =>
        Varint.TryReadBytes(_body, ref _position, out var bytes) ? bytes : throw Broken();

    private ReadOnlySpan<byte> Read(int count)
    {
        if (count > _body.Length - _position)
        {
            throw Broken();
        }

        _position += count;
        return _body.Slice(_position - count, count);
    }

    private static CommandFormatException Broken() =>
        new(
            "A command of Redis does not decode although its checksum is right: a bug or a newer version wrote it. "
                + "Keep the data directory and report it."
        );
}
