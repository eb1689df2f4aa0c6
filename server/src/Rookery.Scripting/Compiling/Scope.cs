namespace Rookery.Scripting.Compiling;

/// <summary>The variables of a block.</summary>
/// <param name="outer">The enclosing block; null for the outermost block of a function.</param>
internal sealed class Scope(Scope? outer)
{
    private readonly Dictionary<string, Variable> _variables = new(StringComparer.Ordinal);
    private readonly HashSet<string> _usedFromOutside = new(StringComparer.Ordinal);

    /// <summary>The enclosing block; null for the outermost block of a function.</summary>
    public Scope? Outer => outer;

    /// <summary>Declares a variable; returns false if the block has one of that name.</summary>
    public bool TryDeclare(string name, int local, bool isConstant) =>
        _variables.TryAdd(name, new Variable(local, isConstant));

    /// <summary>Returns whether the block uses a variable of this name from an enclosing block.</summary>
    public bool IsUsedFromOutside(string name) => _usedFromOutside.Contains(name);

    /// <summary>Finds a variable in this block or an enclosing one.</summary>
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

    /// <summary>A variable: its number, and whether it is constant.</summary>
    internal readonly record struct Variable(int Local, bool IsConstant);
}
