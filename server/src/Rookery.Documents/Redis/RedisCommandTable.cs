using System.Diagnostics.CodeAnalysis;
using System.Text;

namespace Rookery.Documents.Redis;

/// <summary>Finds commands of Redis, served and refused ones, by name or opcode.</summary>
public static class RedisCommandTable
{
    // A quarter of the places are in use, so most names are found at the place of their hash.
    private const int PlaceBits = 10;

    private static readonly (byte[] Name, RedisCommandInfo Command)[] Places = IndexNames();

    private static readonly RedisCommandInfo?[] ByOpcode = IndexOpcodes();

    /// <summary>All commands, in groups.</summary>
    public static IReadOnlyList<RedisCommandInfo> Commands => RedisCommandList.Commands;

    /// <summary>Finds a command by its name, in any casing.</summary>
    public static bool TryFind(ReadOnlySpan<byte> name, [NotNullWhen(true)] out RedisCommandInfo? command)
    {
        for (int i = PlaceOf(name); Places[i].Command is not null; i = (i + 1) % Places.Length)
        {
            if (Ascii.EqualsIgnoreCase(name, Places[i].Name))
            {
                command = Places[i].Command;
                return true;
            }
        }

        command = null;
        return false;
    }

    /// <summary>Returns the command of an opcode; null for a number that this version does not know.</summary>
    internal static RedisCommandInfo? Find(RedisOpcode opcode) => ByOpcode[(byte)opcode];

    // Hashes four letters of the name, in any casing, and its length.
    private static int PlaceOf(ReadOnlySpan<byte> name)
    {
        if (name.IsEmpty)
        {
            return 0;
        }

        const uint Small = 0x20202020;
        int middle = name.Length / 2;
        uint letters =
            ((uint)name[0] << 24) | ((uint)name[middle] << 16) | ((uint)name[^1] << 8) | name[(middle + 1) / 2];
        uint hash = ((letters | Small) + (uint)name.Length) * 0x9E3779B1; // by the golden ratio
        return (int)(hash >> (32 - PlaceBits));
    }

    private static (byte[] Name, RedisCommandInfo Command)[] IndexNames()
    {
        var places = new (byte[] Name, RedisCommandInfo Command)[1 << PlaceBits];
        foreach (var command in RedisCommandList.Commands)
        {
            byte[] name = Encoding.ASCII.GetBytes(command.Name);
            int place = PlaceOf(name);
            while (places[place].Command is not null)
            {
                place = (place + 1) % places.Length;
            }

            places[place] = (name, command);
        }

        return places;
    }

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
