using Rookery.Platform;
using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>The variables of a block.</summary>
/// <param name="outer">The enclosing block; null for the outermost block of a declared function.</param>
/// <param name="isFunction">
/// Whether this is the outermost block of a function or callback, to which <c>var</c> hoists its name.
/// </param>
internal sealed class Scope(Scope? outer, bool isFunction = false)
{
    private readonly Dictionary<string, Variable> _variables = new(StringComparer.Ordinal);
    private readonly HashSet<string> _usedFromOutside = new(StringComparer.Ordinal);

    // Names of the function's 'var' variables that an inner block declares. This block cannot declare them.
    private readonly HashSet<string> _hoisted = new(StringComparer.Ordinal);

    /// <summary>The enclosing block; null for the outermost block of a declared function.</summary>
    public Scope? Outer => outer;

    /// <summary>Whether this is the outermost block of a function or callback.</summary>
    public bool IsFunction => isFunction;

    /// <summary>
    /// Declares a variable. Returns false if the block has a variable of that name, or an inner block declares the name
    /// by <c>var</c>.
    /// </summary>
    public bool TryDeclare(string name, int local, bool isConstant) =>
        !_hoisted.Contains(name) && _variables.TryAdd(name, new Variable(local, isConstant));

    /// <summary>Returns whether this block, not an enclosing one, has a variable of this name.</summary>
    public bool Declares(string name) => _variables.ContainsKey(name);

    /// <summary>Returns whether the block uses a variable of this name from an enclosing block.</summary>
    public bool IsUsedFromOutside(string name) => _usedFromOutside.Contains(name);

    /// <summary>
    /// Returns the function's variable that a <c>var</c> in this block declares. The blocks between cannot declare the
    /// name any more.
    /// </summary>
    /// <exception cref="ScriptException">A block between declares the name by <c>let</c> or <c>const</c>.</exception>
    public Variable FindVar(string name, int position)
    {
        var scope = this;
        for (; !scope.IsFunction; scope = scope.Outer!)
        {
            if (scope._variables.ContainsKey(name))
            {
                throw new ScriptException(ScriptFault.Syntax, $"'{name}' is declared twice", position);
            }

            scope._hoisted.Add(name);
        }

        Invariant.Holds(
            scope._variables.TryGetValue(name, out var variable),
            "each function begins with the declarations of its 'var' variables"
        );
        return variable;
    }

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
