using System.Text;
using Rookery.Storage.Memory;

namespace Rookery.Storage;

/// <summary>
/// A read found bytes on disk that fail their checksum. The message names the file, the offset, the tables and the
/// unreadable keys.
/// </summary>
/// <param name="damage">The damage.</param>
public sealed class DamagedException(DamageEvent damage) : IOException(damage.Sentence)
{
    /// <summary>The damage.</summary>
    public DamageEvent Damage { get; } = damage;
}

/// <summary>
/// A damaged part of a run file. Rows in its key range may be unreadable until they are repaired; all other rows can be
/// read.
/// </summary>
/// <param name="File">Path of the file.</param>
/// <param name="Offset">Offset of the damaged part; -1 if the whole file is missing or unreadable.</param>
/// <param name="Tables">Names of the tables whose rows share the file.</param>
/// <param name="FirstKey">The first key that may be affected.</param>
/// <param name="ToExclusive">The first key after the affected range.</param>
/// <param name="Reason">What is wrong, as a clause ("the checksum of the block does not match").</param>
public sealed record DamageEvent(
    string File,
    long Offset,
    string Tables,
    ReadOnlyMemory<byte> FirstKey,
    ReadOnlyMemory<byte> ToExclusive,
    string Reason
)
{
    /// <summary>One sentence for the operator: which file is damaged, where, and which rows are affected.</summary>
    public string Sentence
    {
        get
        {
            string place = Offset < 0 ? string.Empty : $" at byte {Offset}";
            return $"{File} is damaged{place}: {Reason}; rows of {Tables} from key {Describe(FirstKey.Span)} to before "
                + $"{Describe(ToExclusive.Span)} cannot be read on this node.";
        }
    }

    private static string Describe(ReadOnlySpan<byte> key)
    {
        ReadOnlySpan<byte> text = key[Math.Min(key.Length, MemtableNode.KeyspaceBytes)..];
        bool isText = !text.IsEmpty && !text.ContainsAnyExceptInRange((byte)' ', (byte)'~');
        return isText ? $"{Convert.ToHexString(key)} ({Encoding.ASCII.GetString(text)})" : Convert.ToHexString(key);
    }
}

/// <summary>
/// This program cannot open the directory: a newer version wrote it, or its manifest is unreadable. The message says
/// what to do.
/// </summary>
/// <param name="message">One sentence.</param>
public sealed class StorageFormatException(string message) : IOException(message);
