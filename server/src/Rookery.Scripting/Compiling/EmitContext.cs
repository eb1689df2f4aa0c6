using Rookery.Platform;
using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>What the emitters of one script share: its program, the names in scope, and where jumps go.</summary>
/// <param name="use">What the script may do.</param>
/// <param name="hasArguments">Whether it is given <c>args</c>.</param>
internal sealed class EmitContext(ScriptUse use, bool hasArguments)
{
    /// <summary>A name of <c>args</c> that no script can give to a variable of its own.</summary>
    public const string ArgumentsName = "\0args";

    /// <summary>Variables a function may have, those among them that hold iterations.</summary>
    private const int MostLocals = 1000;

    /// <summary>Levels of expressions; long chains of operators are deep too.</summary>
    private const int MostDepth = 250;

    private int _locals;
    private int _depth;

    /// <summary>What the script may do.</summary>
    public ScriptUse Use => use;

    /// <summary>Whether it is given <c>args</c>.</summary>
    public bool HasArguments => hasArguments;

    /// <summary>The program.</summary>
    public ProgramBuilder Builder { get; } = new();

    /// <summary>All that <see cref="NewTarget"/> made.</summary>
    public List<JumpTarget> Targets { get; } = [];

    /// <summary>The functions that the script declares, by name.</summary>
    public Dictionary<string, DeclaredFunction> Functions { get; } = new(StringComparer.Ordinal);

    /// <summary>Collections of which it loads documents.</summary>
    public HashSet<string> LoadedCollections { get; } = new(StringComparer.Ordinal);

    /// <summary>The innermost scope.</summary>
    public Scope Scope { get; set; } = new(null);

    /// <summary>The innermost loop; null outside of loops.</summary>
    public Loop? Loop { get; set; }

    /// <summary>Where <c>return</c> leads inside a function that became a loop; null in other functions.</summary>
    public JumpTarget? ReturnTarget { get; set; }

    /// <summary>Begins a function, which has no names and variables yet.</summary>
    /// <param name="number">The function.</param>
    /// <param name="parameters">How many it has.</param>
    public void BeginFunction(int number, int parameters)
    {
        Scope = new Scope(null);
        _locals = 0;
        Builder.Begin(number, parameters);
    }

    /// <summary>Ends the function, which returns undefined if it comes this far.</summary>
    public void EndFunction(int number)
    {
        Builder.Emit(Opcode.PushUndefined);
        Builder.Emit(Opcode.Return);
        Builder.End(number, _locals);
    }

    /// <summary>A variable of the function that no name has yet.</summary>
    /// <exception cref="ScriptException">The function has too many.</exception>
    public int NewLocal(int position) =>
        _locals < MostLocals
            ? _locals++
            : throw new ScriptException(
                ScriptFault.TooLarge,
                $"The function has more than {MostLocals} variables",
                position
            );

    /// <summary>A place to jump to, which <see cref="Builder"/> marks later.</summary>
    public JumpTarget NewTarget()
    {
        var target = new JumpTarget();
        Targets.Add(target);
        return target;
    }

    /// <summary>Gives a new variable a name in the innermost scope.</summary>
    /// <exception cref="ScriptException">The scope has the name.</exception>
    public int Declare(string name, bool isConstant, int position, bool isVar = false)
    {
        // A block's own variable would hide the one that JavaScript means.
        if (isVar && Scope.TryFind(name, out _))
        {
            throw TokenCursor.NotSupported($"'var {name}' where '{name}' is declared already", position);
        }

        int local = NewLocal(position);
        return Scope.TryDeclare(name, local, isConstant)
            ? local
            : throw new ScriptException(ScriptFault.Syntax, $"'{name}' is declared twice", position);
    }

    /// <summary>The variable of a name that may be assigned to.</summary>
    /// <exception cref="ScriptException">There is none, or it is a constant.</exception>
    public int FindAssignable(NameExpression name)
    {
        if (!Scope.TryFind(name.Name, out var variable))
        {
            throw TokenCursor.NotSupported($"the name '{name.Name}', which nothing here has", name.Position);
        }

        return variable.IsConstant
            ? throw new ScriptException(ScriptFault.Syntax, $"'{name.Name}' is a constant", name.Position)
            : variable.Local;
    }

    /// <summary>Pushes <c>args</c>, which the script is given and hands on to each of its functions.</summary>
    public void EmitArguments()
    {
        Invariant.Holds(
            Scope.TryFind(ArgumentsName, out var given),
            "every function of a script with arguments is given them"
        );
        Builder.Emit(Opcode.LoadLocal, given.Local);
    }

    /// <summary>Takes the array on the stack into a local of its own, with the position behind it.</summary>
    public int BeginIteration(int position)
    {
        int iteration = NewLocal(position);
        NewLocal(position);
        Builder.Emit(Opcode.BeginIteration, iteration);
        return iteration;
    }

    /// <summary>Enters a statement or an expression; <see cref="Rise"/> leaves it.</summary>
    /// <exception cref="ScriptException">Too many are open.</exception>
    public void Deepen(int position)
    {
        if (++_depth > MostDepth)
        {
            throw new ScriptException(
                ScriptFault.TooLarge,
                $"The script nests deeper than {MostDepth} operations",
                position
            );
        }
    }

    /// <summary>Leaves what <see cref="Deepen"/> entered.</summary>
    public void Rise() => _depth--;
}

/// <summary>A function that a script declares.</summary>
/// <param name="Number">Its number in the program.</param>
/// <param name="Function">What it does.</param>
internal readonly record struct DeclaredFunction(int Number, FunctionStatement Function);

/// <summary>Where a loop goes on, and where it ends.</summary>
/// <param name="Next">Where its next element is taken.</param>
/// <param name="End">Behind it.</param>
internal sealed record Loop(JumpTarget Next, JumpTarget End);
