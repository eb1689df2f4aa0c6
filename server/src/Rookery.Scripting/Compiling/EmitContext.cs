using Rookery.Platform;
using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>
/// State shared by the emitters of one script: the program, the names in scope and the targets of jumps.
/// </summary>
/// <param name="use">The kind of script, which limits what it may do.</param>
/// <param name="hasArguments">Whether the script receives <c>args</c>.</param>
/// <param name="changesMetadata">Whether the script may change the metadata of its document.</param>
/// <param name="lines">The lines of the script's text; null if its program does not contain them.</param>
internal sealed class EmitContext(ScriptUse use, bool hasArguments, bool changesMetadata, LineCounter? lines)
{
    /// <summary>An internal name of <c>args</c>, which no variable of a script can hide.</summary>
    public const string ArgumentsName = "\0args";

    /// <summary>Maximum variables of a function, including those for iterations.</summary>
    private const int MaxLocals = 1000;

    private int _locals;
    private int? _oldValue;
    private int _depth;

    /// <summary>The kind of script, which limits what it may do.</summary>
    public ScriptUse Use => use;

    /// <summary>Whether the script receives <c>args</c>.</summary>
    public bool HasArguments => hasArguments;

    /// <summary>The program being built.</summary>
    public ProgramBuilder Builder { get; } = new();

    /// <summary>All targets that <see cref="NewTarget"/> created.</summary>
    public List<JumpTarget> Targets { get; } = [];

    /// <summary>The functions that the script declares, by name.</summary>
    public Dictionary<string, DeclaredFunction> Functions { get; } = new(StringComparer.Ordinal);

    /// <summary>Whether the script declares a function that has the name of a built-in one.</summary>
    public bool DeclaresBuiltIn => Functions.Keys.Any(static name => FunctionCatalogue.TryFindFunction(name, out _));

    /// <summary>The collections of documents that the script loads.</summary>
    public HashSet<string> LoadedCollections { get; } = new(StringComparer.Ordinal);

    /// <summary>The functions of a query's answer that the script calls.</summary>
    public HashSet<ScriptFunction> AnswerFunctions { get; } = [];

    /// <summary>Positions of the calls of <c>boost</c> that the program does not contain.</summary>
    public HashSet<int> Boosts { get; } = [];

    /// <summary>Whether the script loads, stores or deletes other documents.</summary>
    public bool ReachesDocuments { get; set; }

    /// <summary>Number of places where the script stores or deletes other documents, or changes counters.</summary>
    public int Writes { get; set; }

    /// <summary>Whether the script has a loop or a callback, so that it may run an instruction several times.</summary>
    public bool HasRepetition { get; set; }

    /// <summary>The innermost scope.</summary>
    public Scope Scope { get; set; } = new(null, isFunction: true);

    /// <summary>The innermost loop or <c>switch</c>; null outside of both.</summary>
    public Loop? Loop { get; set; }

    /// <summary>
    /// The target of <c>return</c> in a callback that is compiled as a loop; null in ordinary functions.
    /// </summary>
    public JumpTarget? ReturnTarget { get; set; }

    /// <summary>Begins a function, without names and variables.</summary>
    /// <param name="number">The number of the function.</param>
    /// <param name="parameters">Number of its parameters.</param>
    public void BeginFunction(int number, int parameters)
    {
        Scope = new Scope(null, isFunction: true);
        _locals = 0;
        _oldValue = null;
        Builder.Begin(number, parameters);
    }

    /// <summary>Ends the function. The function returns undefined if a run reaches its end.</summary>
    public void EndFunction(int number)
    {
        Builder.Emit(Opcode.PushUndefined);
        Builder.Emit(Opcode.Return);
        Builder.End(number, _locals);
    }

    /// <summary>Allocates a variable of the function, without a name.</summary>
    /// <exception cref="ScriptException">The function has too many variables.</exception>
    public int NewLocal(int position) =>
        _locals < MaxLocals
            ? _locals++
            : throw new ScriptException(
                ScriptFault.TooLarge,
                $"The function has more than {MaxLocals} variables",
                position
            );

    /// <summary>
    /// Returns the variable in which <c>a++</c> keeps the old value. One is enough for a function, because nothing else
    /// is computed between its assignment and its use.
    /// </summary>
    /// <exception cref="ScriptException">The function has too many variables.</exception>
    public int OldValueLocal(int position) => _oldValue ??= NewLocal(position);

    /// <summary>Creates a jump target, whose position <see cref="ProgramBuilder.Mark"/> sets.</summary>
    public JumpTarget NewTarget()
    {
        var target = new JumpTarget();
        Targets.Add(target);
        return target;
    }

    /// <summary>Declares a variable in the innermost scope and returns its number.</summary>
    /// <exception cref="ScriptException">The scope has a variable of this name.</exception>
    public int Declare(string name, bool isConstant, int position)
    {
        int local = NewLocal(position);
        return Scope.TryDeclare(name, local, isConstant)
            ? local
            : throw new ScriptException(ScriptFault.Syntax, $"'{name}' is declared twice", position);
    }

    /// <summary>
    /// Declares the <c>var</c> variables of a function in its outermost scope, and returns the numbers of those that
    /// are no parameters. As in JavaScript, declarations of one name are one variable.
    /// </summary>
    public List<int> DeclareVars(IEnumerable<DeclaredVariable> variables)
    {
        var locals = new List<int>();
        foreach (var (name, _, position) in variables)
        {
            if (!Scope.Declares(name))
            {
                locals.Add(Declare(name, isConstant: false, position));
            }
        }

        return locals;
    }

    /// <summary>Returns the number of a variable that may be assigned to.</summary>
    /// <exception cref="ScriptException">There is no such variable, or it is a constant.</exception>
    public int FindAssignable(NameExpression name)
    {
        if (!Scope.TryFind(name.Name, out var variable))
        {
            throw TokenCursor.NotSupported($"the name '{name.Name}', which is not defined here", name.Position);
        }

        return variable.IsConstant
            ? throw new ScriptException(ScriptFault.Syntax, $"'{name.Name}' is a constant", name.Position)
            : variable.Local;
    }

    /// <summary>
    /// Lets the script change the metadata that it reads next, because it may change an array or object of the metadata
    /// after reading it. Emits nothing in scripts that may not change metadata.
    /// </summary>
    public void OpenMetadata()
    {
        if (changesMetadata)
        {
            Builder.Emit(Opcode.OpenMetadata);
        }
    }

    /// <summary>As <see cref="OpenMetadata"/> if an expression is the member <c>@metadata</c>.</summary>
    public void OpenMetadataOf(Expression expression)
    {
        if (expression is MemberExpression { Name: "@metadata" })
        {
            OpenMetadata();
        }
    }

    /// <summary>
    /// Refuses an expression that would change metadata, unless the script may change it. Other scripts have only a
    /// copy of the metadata.
    /// </summary>
    /// <exception cref="ScriptException">The script may not change metadata.</exception>
    public void RefuseMetadataChange(Expression target)
    {
        for (var part = changesMetadata ? null : target; part is not null; )
        {
            if (
                part
                is MemberExpression { Name: "@metadata" }
                    or CallExpression { Callee: NameExpression { Name: "getMetadata" or "metadataFor" } }
            )
            {
                throw TokenCursor.NotSupported(
                    use == ScriptUse.Patch
                        ? "changes of the metadata before 'rookery cluster finalize-upgrade' has ended an upgrade"
                        : "changes of the metadata",
                    part.Position
                );
            }

            part = part switch
            {
                MemberExpression member => member.Target,
                ElementExpression element => element.Target,
                _ => null,
            };
        }
    }

    /// <summary>Emits a push of <c>args</c>, which every function of the script gets as a parameter.</summary>
    public void EmitArguments()
    {
        Invariant.Holds(
            Scope.TryFind(ArgumentsName, out var variable),
            "every function of a script with arguments is given them"
        );
        Builder.Emit(Opcode.LoadLocal, variable.Local);
    }

    /// <summary>
    /// Emits code that moves the array on the stack into a new local, with the position 0 in the next local. Returns
    /// the first local.
    /// </summary>
    public int BeginIteration(int position)
    {
        int iteration = NewLocal(position);
        NewLocal(position);
        Builder.Emit(Opcode.BeginIteration, iteration);
        return iteration;
    }

    /// <summary>Assigns the next instructions to the line of a position.</summary>
    public void MarkLine(int position)
    {
        if (lines is not null)
        {
            Builder.Line = lines.LineAt(position);
        }
    }

    /// <summary>Enters a statement or expression. <see cref="LeaveLevel"/> leaves it.</summary>
    /// <exception cref="ScriptException">The script nests too deep.</exception>
    public void EnterLevel(int position)
    {
        if (++_depth > SyntaxDepth.MaxOperations)
        {
            throw SyntaxDepth.TooDeep(position);
        }
    }

    /// <summary>Leaves a statement or expression that <see cref="EnterLevel"/> entered.</summary>
    public void LeaveLevel() => _depth--;
}

/// <summary>A function that a script declares.</summary>
/// <param name="Number">The number of the function in the program.</param>
/// <param name="Function">The parsed function.</param>
internal readonly record struct DeclaredFunction(int Number, FunctionStatement Function);

/// <summary>A variable that statements declare.</summary>
/// <param name="Name">Its name.</param>
/// <param name="IsVar">Whether <c>var</c> declares it, for the whole function.</param>
/// <param name="Position">The offset of the declaration in the text, in characters.</param>
internal readonly record struct DeclaredVariable(string Name, bool IsVar, int Position);

/// <summary>The jump targets of a loop or <c>switch</c>.</summary>
/// <param name="Next">
/// The code to which <c>continue</c> jumps; null in a <c>switch</c> outside of loops.
/// </param>
/// <param name="End">The code after the loop or <c>switch</c>.</param>
internal sealed record Loop(JumpTarget? Next, JumpTarget End);
