namespace Rookery.Scripting.Compiling;

/// <summary>The variables of a block.</summary>
/// <param name="outer">The block around it; null for a function's own.</param>
internal sealed class Scope(Scope? outer)
{
    private readonly Dictionary<string, Variable> _variables = new(StringComparer.Ordinal);
    private readonly HashSet<string> _usedFromOutside = new(StringComparer.Ordinal);

    /// <summary>The block around it.</summary>
    public Scope? Outer => outer;

    /// <summary>Declares a variable; false when the block has one of that name.</summary>
    public bool TryDeclare(string name, int local, bool isConstant) =>
        _variables.TryAdd(name, new Variable(local, isConstant));

    /// <summary>Whether the name was looked up here and found in a block around.</summary>
    public bool IsUsedFromOutside(string name) => _usedFromOutside.Contains(name);

    /// <summary>Finds a variable, also in the blocks around.</summary>
    public bool TryFind(string name, out Variable variable)
    {
        for (var scope = this; scope is not null; scope = scope.Outer)
        {
            if (scope._variables.TryGetValue(name, out variable))
            {
                return true;
            }

            scope._usedFromOutside.Add(name);
        }

        variable = default;
        return false;
    }

    /// <summary>A variable's place, and whether it keeps its first value.</summary>
    internal readonly record struct Variable(int Local, bool IsConstant);
}
