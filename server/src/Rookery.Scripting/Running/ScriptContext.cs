namespace Rookery.Scripting.Running;

/// <summary>The state that the built-in functions of a run share.</summary>
internal sealed class ScriptContext
{
    /// <summary>Creates the state for runs.</summary>
    /// <param name="limits">The limits of a run.</param>
    public ScriptContext(ScriptLimits limits) => Documents = new RunDocuments(Heap, limits);

    /// <summary>The values of the run, with its remaining steps and memory.</summary>
    public ScriptHeap Heap { get; } = new();

    /// <summary>The documents passed to the run, and those that it loads.</summary>
    public RunDocuments Documents { get; }

    /// <summary>Whether doubles are added by their digits: see <see cref="ScriptInterpreter.AddsDecimals"/>.</summary>
    public bool AddsDecimals { get; set; }
}
