using System.Diagnostics.CodeAnalysis;
using System.Text;
using Rookery.Platform;

namespace Rookery.Documents.Redis;

/// <summary>Finds commands of Redis by name or opcode. It lists served commands and refused ones.</summary>
public static class RedisCommandTable
{
    private const int MaxNameBytes = 32;

    private static readonly Dictionary<byte[], RedisCommandInfo> ByName = RedisCommandList.Commands.ToDictionary(
        static command => Encoding.ASCII.GetBytes(command.Name),
        BytesComparer.Instance
    );

    private static readonly Dictionary<byte[], RedisCommandInfo>.AlternateLookup<ReadOnlySpan<byte>> Lookup =
        ByName.GetAlternateLookup<ReadOnlySpan<byte>>();

    private static readonly RedisCommandInfo?[] ByOpcode = IndexOpcodes();

    /// <summary>All commands, in groups.</summary>
    public static IReadOnlyList<RedisCommandInfo> Commands => RedisCommandList.Commands;

    /// <summary>Finds a command by its name, in any casing.</summary>
    public static bool TryFind(ReadOnlySpan<byte> name, [NotNullWhen(true)] out RedisCommandInfo? command)
    {
        command = null;
        Span<byte> lower = stackalloc byte[MaxNameBytes];
        return name.Length <= MaxNameBytes
            && Ascii.ToLower(name, lower, out int length) == System.Buffers.OperationStatus.Done
            && Lookup.TryGetValue(lower[..length], out command);
    }

    /// <summary>Returns the command of an opcode; null for a number that this version does not know.</summary>
    internal static RedisCommandInfo? Find(RedisOpcode opcode) => ByOpcode[(byte)opcode];

    private static RedisCommandInfo?[] IndexOpcodes()
    {
        var commands = new RedisCommandInfo?[byte.MaxValue + 1];
        foreach (var command in RedisCommandList.Commands)
        {
            if (command.Opcode != RedisOpcode.None)
            {
                commands[(byte)command.Opcode] ??= command; // GETRANGE and SUBSTR have one opcode
            }
        }

        return commands;
    }
}
