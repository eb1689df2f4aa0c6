using Rookery.Scripting.Syntax;

namespace Rookery.Scripting.Compiling;

/// <summary>The kind of script, which limits what it may do.</summary>
internal enum ScriptUse
{
    /// <summary>
    /// Changes one document, and may load and change others, with the same result on every cluster member.
    /// </summary>
    Patch,

    /// <summary>Reads documents.</summary>
    Reading,

    /// <summary>Reads documents for an index, which must know the collections of loaded documents in advance.</summary>
    Indexing,
}

/// <summary>Compiles a script to a program.</summary>
internal sealed class ScriptEmitter
{
    private readonly EmitContext _context;
    private readonly ExpressionEmitter _expressions;

    private ScriptEmitter(ScriptUse use, bool hasArguments, bool changesMetadata, LineCounter? lines)
    {
        _context = new EmitContext(use, hasArguments, changesMetadata, lines);
        _expressions = new ExpressionEmitter(_context, this);
        Statements = new StatementEmitter(_context, this);
        Calls = new CallEmitter(_context, this);
        Loops = new LoopEmitter(_context, this);
    }

    /// <summary>Compiles statements.</summary>
    public StatementEmitter Statements { get; }

    /// <summary>Compiles calls of functions and methods.</summary>
    public CallEmitter Calls { get; }

    /// <summary>Compiles methods with a callback.</summary>
    public LoopEmitter Loops { get; }

    /// <summary>Compiles a script.</summary>
    /// <param name="use">The kind of script.</param>
    /// <param name="parameters">Names of the parameters.</param>
    /// <param name="statements">The statements of the script, including the functions that it declares.</param>
    /// <param name="fields">Member names of the object that the script returns.</param>
    /// <param name="alias">Another name of the first parameter; null for none.</param>
    /// <param name="changesMetadata">Whether the script may change the metadata of its document.</param>
    /// <param name="text">The text of all statements, if a failure of the program names its line; otherwise
    /// null.</param>
    public static ScriptProgram Compile(
        ScriptUse use,
        IReadOnlyList<string> parameters,
        IReadOnlyList<Statement> statements,
        IReadOnlyList<string> fields,
        string? alias = null,
        bool changesMetadata = false,
        string? text = null
    )
    {
        var emitter = new ScriptEmitter(
            use,
            parameters.Contains("args", StringComparer.Ordinal),
            changesMetadata,
            text is null ? null : new LineCounter(text)
        );
        var context = emitter._context;
        int main = context.Builder.Declare();
        foreach (var statement in statements)
        {
            if (
                statement is FunctionStatement function
                && !context.Functions.TryAdd(function.Name, new DeclaredFunction(context.Builder.Declare(), function))
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
            position: 0
        );
        foreach (var (number, function) in context.Functions.Values)
        {
            IReadOnlyList<string> allParameters = context.HasArguments
                ? [.. function.Parameters, EmitContext.ArgumentsName]
                : function.Parameters;
            emitter.EmitFunction(number, allParameters, alias: null, function.Body.Statements, function.Position);
        }

        byte[] bytes = context.Builder.Build(context.Targets);
        int writes =
            context.Writes > 0 && (context.HasRepetition || context.Functions.Count > 0)
                ? ScriptProgram.MaxWrites
                : Math.Min(context.Writes, ScriptProgram.MaxWrites);
        var answerFunctions = context.AnswerFunctions;
        return new ScriptProgram(bytes, fields, [.. context.LoadedCollections.Order(StringComparer.Ordinal)])
        {
            ReadsCounters =
                answerFunctions.Contains(ScriptFunction.Counter)
                || answerFunctions.Contains(ScriptFunction.CounterValues),
            IncludesDocuments = answerFunctions.Contains(ScriptFunction.IncludeDocuments),
            IncludesCompareExchange = answerFunctions.Contains(ScriptFunction.IncludeCompareExchange),
            Boosts = context.Boosts,
            ReachesDocuments = context.ReachesDocuments,
            Writes = writes,
        };
    }

    /// <summary>Compiles an expression.</summary>
    public void Emit(Expression expression) => _expressions.Emit(expression);

    /// <summary>Compiles the value whose method is called.</summary>
    public void EmitTarget(MemberExpression method) =>
        _expressions.EmitTarget(method.Target, method.FollowsOptionalDot);

    /// <summary>
    /// Refuses a variable that has the name of a function of the same statements. The functions of a query or of an
    /// index are in an outer scope, where a variable may hide them.
    /// </summary>
    public static void RefuseVariablesNamedAsFunctions(IReadOnlyList<Statement> statements)
    {
        var functions = statements
            .OfType<FunctionStatement>()
            .Select(static function => function.Name)
            .ToHashSet(StringComparer.Ordinal);
        var variables = LexicalVariablesOf(statements).Concat(VarsOf(statements));
        if (variables.FirstOrDefault(variable => functions.Contains(variable.Name)) is { Name: not null } variable)
        {
            throw variable.IsVar
                ? TokenCursor.NotSupported(
                    $"a variable and a function of the name '{variable.Name}'",
                    variable.Position
                )
                : new ScriptException(ScriptFault.Syntax, $"'{variable.Name}' is declared twice", variable.Position);
        }
    }

    /// <summary>Returns the variables that <c>let</c> and <c>const</c> declare outside of blocks.</summary>
    private static IEnumerable<DeclaredVariable> LexicalVariablesOf(IEnumerable<Statement> statements) =>
        statements.SelectMany(static statement =>
            statement switch
            {
                VariableStatement { IsVar: false } variable =>
                [
                    new DeclaredVariable(variable.Name, IsVar: false, variable.Position),
                ],
                BlockStatement { OpensScope: false } declarations => LexicalVariablesOf(declarations.Statements),
                _ => Enumerable.Empty<DeclaredVariable>(),
            }
        );

    /// <summary>Returns the variables that <c>var</c> declares in statements and in their blocks.</summary>
    public static IEnumerable<DeclaredVariable> VarsOf(IEnumerable<Statement> statements) =>
        statements.SelectMany(static statement =>
            statement switch
            {
                VariableStatement { IsVar: true } variable =>
                [
                    new DeclaredVariable(variable.Name, IsVar: true, variable.Position),
                ],
                ForOfStatement { IsVar: true } each => VarsOf(each.Inner)
                    .Prepend(new DeclaredVariable(each.Name, IsVar: true, each.Position)),
                _ => VarsOf(statement.Inner),
            }
        );

    /// <summary>Emits a variable of its own for the alias: an assignment to it does not change <c>this</c>.</summary>
    private void EmitAlias(string alias, int position)
    {
        int local = _context.NewLocal(position);
        if (!_context.Scope.TryDeclare(alias, local, isConstant: false))
        {
            throw new ScriptException(ScriptFault.Syntax, $"'{alias}' is named twice", position);
        }

        _context.Builder.Emit(Opcode.LoadLocal, 0);
        _context.Builder.Emit(Opcode.StoreLocal, local);
    }

    private void EmitFunction(
        int number,
        IReadOnlyList<string> parameters,
        string? alias,
        IReadOnlyList<Statement> statements,
        int position
    )
    {
        _context.BeginFunction(number, parameters.Count);
        foreach (string name in parameters)
        {
            if (!_context.Scope.TryDeclare(name, _context.NewLocal(position), isConstant: false))
            {
                throw TokenCursor.NotSupported($"two parameters of the name '{name}'", position);
            }
        }

        if (alias is not null)
        {
            EmitAlias(alias, position);
        }

        if (_context.Scope.TryFind("args", out var variable))
        {
            _context.Scope.TryDeclare(EmitContext.ArgumentsName, variable.Local, isConstant: true);
        }

        _context.DeclareVars(VarsOf(statements));
        foreach (var statement in statements)
        {
            Statements.Emit(statement);
        }

        _context.EndFunction(number);
    }
}
