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

    // Names that a 'var' in an inner block declares here, too. The variable itself is only in that block.
    private readonly HashSet<string> _hoisted = new(StringComparer.Ordinal);

    /// <summary>The enclosing block; null for the outermost block of a declared function.</summary>
    public Scope? Outer => outer;

    /// <summary>Whether this is the outermost block of a function or callback.</summary>
    public bool IsFunction => isFunction;

    /// <summary>
    /// Declares a variable; returns false if the block has one of that name, or a <c>var</c> of an inner block has it.
    /// </summary>
    public bool TryDeclare(string name, int local, bool isConstant) =>
        !_hoisted.Contains(name) && _variables.TryAdd(name, new Variable(local, isConstant));

    /// <summary>Returns whether the block uses a variable of this name from an enclosing block.</summary>
    public bool IsUsedFromOutside(string name) => _usedFromOutside.Contains(name);

    /// <summary>
    /// Refuses a <c>var</c> that JavaScript would join with another variable or use outside of this block, and records
    /// its name in the enclosing blocks of the function.
    /// </summary>
    /// <exception cref="ScriptException">The name is declared already, or used before the declaration.</exception>
    public void Hoist(string name, int position)
    {
        if (_hoisted.Contains(name))
        {
            throw DeclaredAlready(name, position);
        }

        for (var scope = this; scope is not null; scope = scope.Outer)
        {
            if (scope._variables.ContainsKey(name))
            {
                throw DeclaredAlready(name, position);
            }
        }

        for (var scope = this; !scope.IsFunction; )
        {
            scope = scope.Outer!;
            if (scope.IsUsedFromOutside(name))
            {
                throw TokenCursor.NotSupported($"'{name}' before its declaration", position);
            }

            scope._hoisted.Add(name);
        }
    }

    /// <summary>Finds a variable in this block or an enclosing one.</summary>
    /// <exception cref="ScriptException">The name is that of a <c>var</c> of an inner block.</exception>
    public bool TryFind(string name, int position, out Variable variable)
    {
        for (var scope = this; scope is not null; scope = scope.Outer)
        {
            if (scope._variables.TryGetValue(name, out variable))
            {
                return true;
            }

            if (scope._hoisted.Contains(name))
            {
                throw TokenCursor.NotSupported($"'{name}' outside of the block of its 'var'", position);
            }

            scope._usedFromOutside.Add(name);
        }

        variable = default;
        return false;
    }

    private static ScriptException DeclaredAlready(string name, int position) =>
        TokenCursor.NotSupported($"'var {name}' where '{name}' is declared already", position);

    /// <summary>A variable: its number, and whether it is constant.</summary>
    internal readonly record struct Variable(int Local, bool IsConstant);
}
