using Rookery.Json;

namespace Rookery.Scripting.Running;

/// <summary>
/// The limits of one run of a script. They are counted, not measured, so that they are the same on every machine.
/// </summary>
public sealed record ScriptLimits
{
    /// <summary>The default limits.</summary>
    public static ScriptLimits Default { get; } = new();

    /// <summary>
    /// Steps that any run may take: one for each instruction, and one for each 16 bytes that it reads or writes.
    /// </summary>
    public int Steps { get; init; } = 100_000;

    /// <summary>Additional steps for each byte of input.</summary>
    public int StepsPerByte { get; init; } = 8;

    /// <summary>The most steps of any run, about a tenth of a second.</summary>
    public int MostSteps { get; init; } = 16 * 1024 * 1024;

    /// <summary>
    /// The most memory for values and sorting, in bytes. All members must end the same patch at the same step, so this
    /// value fits the smallest member and does not depend on a member's memory.
    /// </summary>
    public int MemoryBytes { get; init; } = 12 * 1024 * 1024;

    /// <summary>The most bytes of JSON in the result: the size of the largest document.</summary>
    public int OutputBytes { get; init; } = JsonLimits.MaxDocumentBytes;

    /// <summary>The most documents that a run may load.</summary>
    public int Loads { get; init; } = 256;
}
