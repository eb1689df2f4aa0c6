using Rookery.Json;

namespace Rookery.Scripting.Running;

/// <summary>What one run of a script may cost. Counted, never measured: the same on every machine.</summary>
public sealed record ScriptLimits
{
    /// <summary>The limits of this program.</summary>
    public static ScriptLimits Default { get; } = new();

    /// <summary>
    /// Steps that any run may take: an instruction is one, and 16 bytes that it reads or writes are one more.
    /// </summary>
    public int Steps { get; init; } = 100_000;

    /// <summary>Steps more for each byte that it is given.</summary>
    public int StepsPerByte { get; init; } = 8;

    /// <summary>Steps that no run may pass: about a tenth of a second.</summary>
    public int MostSteps { get; init; } = 16 * 1024 * 1024;

    /// <summary>
    /// Bytes of memory for its values and for sorting them. Members that apply the same patch must end it at the same
    /// place, so this fits the smallest of them and does not depend on what one has.
    /// </summary>
    public int MemoryBytes { get; init; } = 12 * 1024 * 1024;

    /// <summary>Bytes of JSON that it may yield: those of the largest document.</summary>
    public int OutputBytes { get; init; } = JsonLimits.MaxDocumentBytes;

    /// <summary>Documents that one run may load.</summary>
    public int Loads { get; init; } = 256;
}
