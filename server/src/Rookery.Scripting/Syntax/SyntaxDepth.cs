namespace Rookery.Scripting.Syntax;

/// <summary>
/// Bounds the depth of syntax trees. Most code that reads a tree is recursive, and an overflow of the stack ends the
/// process. Parsers read chains such as <c>a + b + c</c> and <c>a.b.c</c> in loops, so only this limit bounds their
/// trees.
/// </summary>
internal static class SyntaxDepth
{
    /// <summary>Maximum levels of nested operations. Each operator of a chain is a level.</summary>
    public const int MaxOperations = 250;

    // Most operations are at most four nodes deep: a call contains a member access or function, and that contains the
    // receiver or result. With any reader, a thousand nodes fit a stack of 1 MiB, and platforms give threads 1.5 MiB or
    // more.
    private const int MaxNodes = 4 * MaxOperations;

    /// <summary>Returns the depth of a node from that of its deepest child; 0 if it has none.</summary>
    /// <exception cref="ScriptException">The tree is too deep.</exception>
    public static int Above(int child, int position) => child < MaxNodes ? child + 1 : throw TooDeep(position);

    /// <summary>Requires that a recursive reader, which also follows names to their values, is not too deep.</summary>
    /// <exception cref="ScriptException">The reader is too deep.</exception>
    public static void Require(int depth, int position)
    {
        if (depth > MaxNodes)
        {
            throw TooDeep(position);
        }
    }

    /// <summary>Returns the error for text that nests too deep.</summary>
    public static ScriptException TooDeep(int position) =>
        new(ScriptFault.TooLarge, $"The script nests deeper than {MaxOperations} operations", position);
}
