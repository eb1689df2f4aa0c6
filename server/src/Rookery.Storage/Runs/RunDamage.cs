using Rookery.Storage.State;

namespace Rookery.Storage.Runs;

/// <summary>Bytes of a run that cannot be trusted: what a reader gets instead of a wrong answer.</summary>
/// <param name="Path">The run's file.</param>
/// <param name="Offset">Where the damaged part begins, in bytes from the start of the file.</param>
/// <param name="Length">How long it is, in bytes; 0 when that is not known.</param>
/// <param name="Reason">What is wrong, as a clause ("the checksum does not match").</param>
internal sealed record RunDamage(string Path, long Offset, long Length, string Reason)
{
    /// <summary>No key below this one is touched by the damage; empty when the damage concerns the whole run.</summary>
    public ReadOnlyMemory<byte> From { get; init; }

    /// <summary>No key at or above this one is touched by the damage; empty when there is no such bound.</summary>
    public ReadOnlyMemory<byte> ToExclusive { get; init; }

    /// <summary>The tables whose rows share the file, by name; empty while only the file itself is known.</summary>
    public string Tables { get; init; } = "";

    /// <summary>The same with bounds and tables, of a file that a manifest names.</summary>
    public RunDamage Within(RunEntry file, string tables) =>
        this with
        {
            From = From.IsEmpty ? file.FirstKey.ToArray() : From,
            ToExclusive = ToExclusive.IsEmpty ? (byte[])[.. file.LastKey, 0] : ToExclusive,
            Tables = tables,
        };

    /// <summary>What is reported of it, once it is within a file.</summary>
    public DamageEvent ToEvent() => new(Path, Offset, Tables, From, ToExclusive, Reason);

    /// <summary>One sentence for the owner of the node.</summary>
    public override string ToString() => $"{Path} is damaged at byte {Offset}: {Reason}.";
}
