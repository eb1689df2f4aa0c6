using Rookery.Platform;
using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>What a script may do.</summary>
internal enum ScriptUse
{
    /// <summary>Changes one document, on every member alike: nothing of other documents.</summary>
    Patch,

    /// <summary>Reads documents.</summary>
    Reading,

    /// <summary>Reads documents for an index, which has to know of which collections those are that it loads.</summary>
    Indexing,
}

/// <summary>Compiles expressions and statements into a program. Here functions and names.</summary>
internal sealed partial class ScriptEmitter
{
    /// <summary>Variables a function may have, those among them that hold iterations.</summary>
    private const int MostLocals = 1000;

    /// <summary>Levels of expressions; long chains of operators are deep too.</summary>
    private const int MostDepth = 250;

    /// <summary>A name of <c>args</c> that no script can give to a variable of its own.</summary>
    private const string Arguments = "\0args";

    private readonly ScriptUse _use;
    private readonly ProgramBuilder _builder = new();
    private readonly List<JumpTarget> _targets = [];
    private readonly Dictionary<string, DeclaredFunction> _functions = new(StringComparer.Ordinal);
    private readonly HashSet<string> _loadedCollections = new(StringComparer.Ordinal);
    private Scope _scope = new(null);
    private int _locals;
    private int _depth;
    private bool _hasArguments;

    private ScriptEmitter(ScriptUse use) => _use = use;

    /// <summary>Compiles a script.</summary>
    /// <param name="use">What it may do.</param>
    /// <param name="parameters">Names of what it is given.</param>
    /// <param name="statements">What it does; its value is what it returns.</param>
    /// <param name="fields">Names of the members of its value.</param>
    /// <param name="alias">Another name of the first parameter; null for none.</param>
    public static ScriptProgram Compile(
        ScriptUse use,
        IReadOnlyList<string> parameters,
        IReadOnlyList<Statement> statements,
        IReadOnlyList<string> fields,
        string? alias = null
    )
    {
        var emitter = new ScriptEmitter(use) { _hasArguments = parameters.Contains("args", StringComparer.Ordinal) };
        int main = emitter._builder.Declare();
        foreach (var statement in statements)
        {
            if (
                statement is FunctionStatement function
                && !emitter._functions.TryAdd(function.Name, new DeclaredFunction(emitter._builder.Declare(), function))
            )
            {
                throw TokenCursor.NotSupported($"two functions of the name '{function.Name}'", function.Position);
            }
        }

        emitter.EmitFunction(
            main,
            parameters,
            alias,
            [.. statements.Where(static statement => statement is not FunctionStatement)],
            0
        );
        foreach (var (number, function) in emitter._functions.Values)
        {
            IReadOnlyList<string> given = emitter._hasArguments
                ? [.. function.Parameters, Arguments]
                : function.Parameters;
            emitter.EmitFunction(number, given, alias: null, function.Body.Statements, function.Position);
        }

        byte[] bytes = emitter._builder.Build(emitter._targets);
        return new ScriptProgram(bytes, fields, [.. emitter._loadedCollections.Order(StringComparer.Ordinal)]);
    }

    private void EmitFunction(
        int number,
        IReadOnlyList<string> parameters,
        string? alias,
        IReadOnlyList<Statement> statements,
        int position
    )
    {
        _scope = new Scope(null);
        _locals = 0;
        _builder.Begin(number, parameters.Count);
        foreach (string name in parameters)
        {
            if (!_scope.TryDeclare(name, NewLocal(position), isConstant: false))
            {
                throw TokenCursor.NotSupported($"two parameters of the name '{name}'", position);
            }
        }

        if (alias is not null && !_scope.TryDeclare(alias, 0, isConstant: false))
        {
            throw new ScriptException(ScriptFault.Syntax, $"'{alias}' is named twice", position);
        }

        if (_scope.TryFind("args", out var given))
        {
            _scope.TryDeclare(Arguments, given.Local, isConstant: true);
        }

        foreach (var statement in statements)
        {
            Emit(statement);
        }

        _builder.Emit(Opcode.PushUndefined);
        _builder.Emit(Opcode.Return);
        _builder.End(number, _locals);
    }

    private int NewLocal(int position) =>
        _locals < MostLocals
            ? _locals++
            : throw new ScriptException(
                ScriptFault.TooLarge,
                $"The function has more than {MostLocals} variables",
                position
            );

    private JumpTarget NewTarget()
    {
        var target = new JumpTarget();
        _targets.Add(target);
        return target;
    }

    private int Declare(string name, bool isConstant, int position, bool isVar = false)
    {
        // A block's own variable would hide the one that JavaScript means.
        if (isVar && _scope.TryFind(name, out _))
        {
            throw TokenCursor.NotSupported($"'var {name}' where '{name}' is declared already", position);
        }

        int local = NewLocal(position);
        return _scope.TryDeclare(name, local, isConstant)
            ? local
            : throw new ScriptException(ScriptFault.Syntax, $"'{name}' is declared twice", position);
    }

    private void EmitName(NameExpression name)
    {
        if (_scope.TryFind(name.Name, out var variable))
        {
            _builder.Emit(Opcode.LoadLocal, variable.Local);
        }
        else if (_hasArguments && name.Name is "args")
        {
            EmitArguments();
        }
        else if (_hasArguments && name.Name.Length > 1 && name.Name[0] == '$')
        {
            EmitArguments();
            _builder.Emit(Opcode.GetMember, name.Name[1..]);
        }
        else
        {
            switch (name.Name)
            {
                case "NaN":
                    _builder.EmitNumber(double.NaN);
                    break;
                case "Infinity":
                    _builder.EmitNumber(double.PositiveInfinity);
                    break;
                default:
                    throw TokenCursor.NotSupported(
                        _functions.ContainsKey(name.Name)
                            ? $"the function '{name.Name}' as a value"
                            : $"the name '{name.Name}', which nothing here has",
                        name.Position
                    );
            }
        }
    }

    /// <summary>Pushes <c>args</c>, which the script is given and hands on to each of its functions.</summary>
    private void EmitArguments()
    {
        Invariant.Holds(
            _scope.TryFind(Arguments, out var given),
            "every function of a script with arguments is given them"
        );
        _builder.Emit(Opcode.LoadLocal, given.Local);
    }

    private int FindAssignable(NameExpression name)
    {
        if (!_scope.TryFind(name.Name, out var variable))
        {
            throw TokenCursor.NotSupported($"the name '{name.Name}', which nothing here has", name.Position);
        }

        return variable.IsConstant
            ? throw new ScriptException(ScriptFault.Syntax, $"'{name.Name}' is a constant", name.Position)
            : variable.Local;
    }

    private readonly record struct DeclaredFunction(int Number, FunctionStatement Function);
}
