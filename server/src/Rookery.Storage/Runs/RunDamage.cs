using Rookery.Storage.State;

namespace Rookery.Storage.Runs;

/// <summary>Damaged bytes of a run.</summary>
/// <param name="Path">Path of the run's file.</param>
/// <param name="Offset">Offset of the damaged part in the file.</param>
/// <param name="Length">Length of the damaged part; 0 if it is not known.</param>
/// <param name="Reason">What is wrong, as a clause ("the checksum does not match").</param>
internal sealed record RunDamage(string Path, long Offset, long Length, string Reason)
{
    /// <summary>The first key that may be affected; empty if the whole run is.</summary>
    public ReadOnlyMemory<byte> From { get; init; }

    /// <summary>The first key after the affected range; empty if there is no such bound.</summary>
    public ReadOnlyMemory<byte> ToExclusive { get; init; }

    /// <summary>Names of the tables whose rows share the file; empty while only the file is known.</summary>
    public string Tables { get; init; } = "";

    /// <summary>
    /// Returns the damage with the names of the file's tables; where a bound of the damaged keys is not known, with the
    /// bound of the file.
    /// </summary>
    public RunDamage WithFile(RunEntry file, string tables) =>
        this with
        {
            From = From.IsEmpty ? file.FirstKey.ToArray() : From,
            ToExclusive = ToExclusive.IsEmpty ? (byte[])[.. file.LastKey, 0] : ToExclusive,
            Tables = tables,
        };

    /// <summary>Returns the event to report; call <see cref="WithFile"/> first.</summary>
    public DamageEvent ToEvent() => new(Path, Offset, Tables, From, ToExclusive, Reason);

    /// <summary>Returns one sentence for the operator.</summary>
    public override string ToString() => $"{Path} is damaged at byte {Offset}: {Reason}.";
}
