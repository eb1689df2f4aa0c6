namespace Rookery.Scripting.Running;

/// <summary>What the functions of a run work on.</summary>
internal sealed class ScriptContext
{
    /// <summary>Makes one.</summary>
    /// <param name="limits">What a run may cost.</param>
    public ScriptContext(ScriptLimits limits) => Documents = new RunDocuments(Heap, limits);

    /// <summary>The values of the run, and the steps and memory that it has left.</summary>
    public ScriptHeap Heap { get; } = new();

    /// <summary>The documents that it was given, and those that it loads.</summary>
    public RunDocuments Documents { get; }

    /// <summary>Whether doubles are added by their digits: see <see cref="ScriptInterpreter.AddsDecimals"/>.</summary>
    public bool AddsDecimals { get; set; }
}
