using System.Text;
using Rookery.Storage.Memory;

namespace Rookery.Storage;

/// <summary>
/// Bytes on disk are not what was written. The message names the file, the offset, the table and what cannot be read.
/// </summary>
/// <param name="damage">What was found.</param>
public sealed class DamagedException(DamageEvent damage) : IOException(damage.Sentence)
{
    /// <summary>What was found.</summary>
    public DamageEvent Damage { get; } = damage;
}

/// <summary>
/// A place on disk that failed its check. Rows between the keys cannot be read until they are repaired; all others can.
/// </summary>
/// <param name="File">The file's path.</param>
/// <param name="Offset">Where the damaged part begins, in bytes; -1 when the whole file is missing or
/// unreadable.</param>
/// <param name="Tables">The tables whose rows share the file, by name.</param>
/// <param name="FirstKey">No row below it is affected.</param>
/// <param name="ToExclusive">No row at or above it is affected.</param>
/// <param name="Reason">What is wrong ("the checksum of the block does not match").</param>
public sealed record DamageEvent(
    string File,
    long Offset,
    string Tables,
    ReadOnlyMemory<byte> FirstKey,
    ReadOnlyMemory<byte> ToExclusive,
    string Reason
)
{
    /// <summary>One sentence for the owner: what, where, which rows.</summary>
    public string Sentence =>
        $"{File} is damaged{(Offset < 0 ? "" : $" at byte {Offset}")}: {Reason}; rows of {Tables} from key "
        + $"{Describe(FirstKey.Span)} to before {Describe(ToExclusive.Span)} cannot be read on this node.";

    private static string Describe(ReadOnlySpan<byte> key)
    {
        ReadOnlySpan<byte> text = key[Math.Min(key.Length, MemtableNode.KeyspaceBytes)..];
        bool isText = !text.IsEmpty && !text.ContainsAnyExceptInRange((byte)' ', (byte)'~');
        return isText ? $"{Convert.ToHexString(key)} ({Encoding.ASCII.GetString(text)})" : Convert.ToHexString(key);
    }
}

/// <summary>
/// The directory cannot be opened by this program: made by a newer version, or its manifest is unreadable. The message
/// says what to do.
/// </summary>
/// <param name="message">One sentence.</param>
public sealed class StorageFormatException(string message) : IOException(message);
