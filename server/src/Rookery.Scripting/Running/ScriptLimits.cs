using Rookery.Json;

namespace Rookery.Scripting.Running;

/// <summary>
/// The limits of one run of a script. Steps are counted instead of measuring time, so that a run ends at the same step
/// on every machine.
/// </summary>
public sealed record ScriptLimits
{
    /// <summary>The default limits.</summary>
    public static ScriptLimits Default { get; } = new();

    /// <summary>
    /// Steps that every run may take. Each instruction is a step, and each 16 bytes that it reads or writes.
    /// </summary>
    public int Steps { get; init; } = 100_000;

    /// <summary>Additional steps for each byte of input.</summary>
    public int StepsPerByte { get; init; } = 8;

    /// <summary>Maximum steps of any run, which take about a tenth of a second.</summary>
    public int MaxSteps { get; init; } = 16 * 1024 * 1024;

    /// <summary>
    /// Maximum memory for values and sorting, in bytes. It does not depend on a member's memory and fits the smallest
    /// one, because all members must end the same patch at the same step.
    /// </summary>
    public int MemoryBytes { get; init; } = 12 * 1024 * 1024;

    /// <summary>Maximum bytes of JSON in the result. The default is the maximum size of a document.</summary>
    public int OutputBytes { get; init; } = JsonLimits.MaxDocumentBytes;

    /// <summary>Maximum documents that a run may load.</summary>
    public int Loads { get; init; } = 256;
}
