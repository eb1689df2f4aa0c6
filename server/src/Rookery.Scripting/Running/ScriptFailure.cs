namespace Rookery.Scripting.Running;

/// <summary>
/// Thrown to end a run, because the script needs something that does not exist or exceeds a limit. The interpreter
/// catches it.
/// </summary>
/// <param name="reason">The reason, without a full stop.</param>
internal sealed class ScriptFailure(string reason) : Exception(reason);
