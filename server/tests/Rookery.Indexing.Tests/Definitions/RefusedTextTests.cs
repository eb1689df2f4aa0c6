using Rookery.Indexing.Definitions;
using Rookery.Scripting.Syntax;

namespace Rookery.Indexing.Tests.Definitions;

/// <summary>Unsupported constructs are rejected when the index is defined, with their name and position.</summary>
public sealed class RefusedTextTests
{
    [Theory]
    [InlineData("map('Users', u => ({ t: new Map(u.at) }))", 24, "'new Map'")]
    [InlineData(
        "docs.Users.Select(u => new { t = u.a.Where(x => x > 0).Aggregate((a, b) => a) })",
        55,
        "Aggregate() without a seed"
    )]
    [InlineData("map('Users', u => ({ t: /(?=a)/.test(u.at) }))", 24, "a lookahead")]
    [InlineData("map('Users', u => ({ t: cmpxchg('a') }))", 24, "the function 'cmpxchg'")]
    [InlineData("map('Users', u => ({ t: createField('a', u.b) }))", 24, "'createField' outside of")]
    [InlineData("map('Users', u => ({ t: boost(u.a, u.b) }))", 36, "a boost that is not a positive number in the text")]
    [InlineData("map('Users', u => ({ t: boost(u.a, 0) }))", 35, "a boost that is not a positive number in the text")]
    [InlineData("map('Users', u => ({ t: [boost(u.a, 2)] }))", 25, "the function 'boost'")]
    [InlineData("map('Users', u => ({ t: { b: boost(u.a, 2) } }))", 34, "a boost of anything but a field of the index")]
    [InlineData("map('Users', u => u.a ? { t: boost(u.a, 2) } : { t: u.b })", 53, "two boosts of the field 't'")]
    [InlineData("map('Users', u => boost({ t: u.a }, 2))", 23, "not written in the text")]
    [InlineData(
        "docs.Users.Select(u => new { t = u.a.Boost((float)u.b) })",
        52,
        "a boost that is not a positive number"
    )]
    [InlineData("docs.Users.Select(u => new { t = u.a }.Boost(2))", 39, "not written in the text")]
    [InlineData("map('Users', u => ({ t: createSpatialField(u.a, u.b) }))", 24, "the function 'createSpatialField'")]
    [InlineData("map('Users', u => ({ t: load(u.c) }))", 24, "'load' without the name of a collection")]
    [InlineData("map('Users', u => ({ ...u }))", 19, "spread objects")]
    [InlineData("map('Users', u => ({ [u.a]: 1 }))", 19, "computed names")]
    [InlineData("map('Users', u => ({ a: { $value: 1 } }))", 34, "'$value'")]
    [InlineData("map('Users', u => u)", 18, "not written in the text")]
    [InlineData("map('Users', (u, i) => ({ a: 1 }))", 13, "2 parameters")]
    [InlineData("map('Users', u => { try { } catch (e) { } })", 20, "'try'")]
    [InlineData("map('Users', u => ({ a: process.env }))", 24, "the name 'process'")]
    [InlineData("map('Users', u => ({ a: eval('1') }))", 24, "the function 'eval'")]
    [InlineData("map(u => ({ a: 1 }))", 3, "A map is written")]
    [InlineData("map('Users', u => ({ a: 1 })).b", 29, "A map is written")]
    [InlineData("map('Users', u => ({ a: 1 })) map('Dogs', u => ({ a: 1 }))", 30, "the end was expected")]
    [InlineData("timeseries.map('Users', 'HeartRate', s => ({ a: 1 }))", 0, "time series")]
    [InlineData("from ts in timeseries.Users.HeartRate select new { ts.Name }", 11, "indexes of timeseries")]
    [InlineData("from('Users').map(u => ({ a: 1 }))", 0, "'from(…)'; a map is written \"map('Collection', ")]
    [InlineData("map('', u => ({ a: 1 }))", 0, "a collection without a name")]
    [InlineData("docs[\"\"].Select(u => new { a = 1 })", 0, "a collection without a name")]
    [InlineData("archivedMap('Users', u => ({ a: 1 }))", 0, "'archivedMap'")]
    [InlineData("const f = x => x; map('Users', u => ({ a: f(u.b) }))", 0, "'const' before the map")]
    [InlineData("function f(x) { return { a: x } } map('Users', u => f(u.b))", 53, "not written in the text")]
    [InlineData(
        "docs.Users.Select(u => new { t = new[] { 1.5 }.Concat(new[] { 1 }) })",
        47,
        "'Concat' of elements of different types"
    )]
    [InlineData("docs.Users.Select(u => new { t = u.a ? 1.5 : 1m })", 39, "a decimal and a double in one place")]
    [InlineData("docs.Users.Select(u => new { t = new int[] { 1.5 } })", 45, "a double among elements")]
    [InlineData("docs.Users.Select(u => new { t = new float[] { 1.5 } })", 47, "a double among elements")]
    [InlineData("docs.Users.Select(u => new { t = new decimal[] { 1.5 } })", 49, "a double among elements")]
    [InlineData("docs.Users.Select(u => new { t = new int[] { 5L } })", 45, "a long among elements")]
    [InlineData("docs.Users.Select(u => new { t = new int[] { true } })", 45, "a bool among elements")]
    [InlineData("docs.Users.Select(u => new { t = new[] { 1 }.Contains(1.5) })", 54, "a double among elements")]
    [InlineData(
        "docs.Users.Select(u => new { t = new[] { 1.5 }.Aggregate(0, (s, x) => s + x) })",
        72,
        "'Aggregate' whose accumulator is an int and whose function returns a double"
    )]
    [InlineData(
        "docs.Users.Select(u => new { t = new[] { 1.5 }.Aggregate(0L, (s, x) => x) })",
        71,
        "'Aggregate' whose accumulator is a long and whose function returns a double"
    )]
    [InlineData("docs.Users.Select(u => new { t = new byte[] { u.a } })", 33, "elements of type 'byte'")]
    [InlineData("docs.Users.Select(u => new { t = new List<ushort> { u.a } })", 33, "elements of type 'ushort'")]
    [InlineData("docs.Users.Select(u => new { t = 1L.Equals((object)1) })", 36, "'Equals' with a value that is cast")]
    [InlineData(
        "docs.Users.Select(u => new { t = ((object)u.a).Equals(1) })",
        47,
        "'Equals' with a value that is cast"
    )]
    [InlineData("docs.Users.Select(u => new { t = 1L.CompareTo((object)1) })", 36, "'CompareTo' with a value that is")]
    [InlineData("docs.Users.Select(u => new { t = (object)u.a == u.b })", 45, "compares by reference")]
    [InlineData("docs.Users.Select(u => new { t = u.a != (object)1 })", 37, "compares by reference")]
    [InlineData("docs.Users.Select(u => new { t = object.Equals(u.a, 1) })", 33, "write 'a == b'")]
    [InlineData("select 1", 0, "A map begins with")]
    [InlineData("", 0, "A map begins with")]
    [InlineData("from u in docs.Users orderby u.name select new { u.name }", 21, "'orderby' here")]
    [InlineData(
        "from u in docs.Users join o in docs.Orders on u.id equals o.user select new { u.name }",
        21,
        "'join' here"
    )]
    [InlineData("from u in docs.Users group u by u.name into g select new { g.Key }", 21, "'group' here")]
    [InlineData("docs.Users.GroupBy(u => u.name)", 11, "the method 'GroupBy'")]
    [InlineData("docs.Users.OrderBy(u => u.name).Select(u => new { u.name })", 11, "the method 'OrderBy'")]
    [InlineData("docs.Users.Select(u => new { u.name.Foo() })", 36, "the method 'Foo'")]
    [InlineData("docs.Users.Select(u => new { a = u.tags.GroupBy(t => t) })", 40, "the method 'GroupBy'")]
    [InlineData("docs.Users.Select(u => { return new { u.name }; })", 23, "functions of statements")]
    [InlineData("docs.Users.Select(u => new { a = u.l.Select((x, i, l) => x) })", 44, "a function of 3 parameters")]
    [InlineData("docs.Users.Select(u => new { a = DateTime.Now })", 33, "'DateTime.Now'")]
    [InlineData("docs.Users.Select(u => new { a = typeof(int) })", 33, "'typeof'")]
    [InlineData("docs.Users.Select(u => new { a = u is string })", 35, "the operator 'is'")]
    [InlineData("docs.Users.Select(u => new { a = u.b & 1 })", 37, "the operator '&'")]
    [InlineData("docs.Users.Select(u => new { a = (Foo)u.b })", 33, "the cast to 'Foo'")]
    [InlineData("docs.Users.Select(u => new { a = SpatialIndex.Generate(u.x, u.y) })", 46, "the method 'Generate'")]
    [InlineData("docs.Users.Select(u => new { a = CreateField(\"a\", u.x) })", 33, "'createField' outside of")]
    [InlineData("docs.Users.Select(u => new { a = LoadDocument<X>(u.x) })", 33, "'LoadDocument' without")]
    [InlineData("docs.Users.Select(u => new { a = new Dictionary<string, int>() })", 33, "'new Dictionary'")]
    [InlineData(
        "docs.Users.Select(u => new { a = (u.b - u.c).TotalDay })",
        45,
        "the member 'TotalDay' of a number or a date or a time span"
    )]
    [InlineData("docs.Users.Select(u => new { a = u.b.ToLower().Year })", 47, "the member 'Year' of a string")]
    [InlineData(
        "docs.Users.Select(u => new { a = u.b.AddDays(1).Tomorrow })",
        48,
        "the member 'Tomorrow' of a date or a time span"
    )]
    [InlineData("docs.Users.Select(u => new { a = new DateTime(2024, 1, 1).Foo })", 58, "the member 'Foo' of a date")]
    [InlineData("docs.Users.Select(u => new { a = u.b.Split(',').Size })", 48, "the member 'Size' of a sequence")]
    [InlineData("docs.Users.Select(u => new { a = (u.b > 1).Foo })", 43, "the member 'Foo' of a bool")]
    [InlineData("docs.Users.Select(u => new { a = u.b.Trim().AddDays(1) })", 44, "the method 'AddDays' of a string")]
    [InlineData(
        "docs.Users.Select(u => new { a = u.l.Sum(x => x.n).ToLower() })",
        51,
        "the method 'ToLower' of a number"
    )]
    [InlineData(
        "docs.Users.Select(u => new { a = u.b }).Select(t => new { c = t.b })",
        64,
        "the member 'b' of an object that has no such member"
    )]
    [InlineData(
        "from u in docs.Users let d = u.b.ToString() select new { a = d.Size }",
        63,
        "the member 'Size' of a string"
    )]
    [InlineData(
        "docs.Users.Select(u => new { a = u.l.Select(x => new { x.n }).Where(y => y.m > 1) })",
        75,
        "the member 'm' of an object that has no such member"
    )]
    [InlineData("docs.Users.Select(u => new { a = DateTime.UtcNow })", 33, "'DateTime.UtcNow'")]
    [InlineData("docs.Users.Select(u => new { a = DateTime.Today })", 33, "'DateTime.Today'")]
    [InlineData("docs.Users.Select(u => new { a = u.b.ToLocalTime() })", 37, "the method 'ToLocalTime'")]
    [InlineData(
        "docs.Users.Select(u => new { a = string.Compare(u.b, u.c) })",
        33,
        "'string.Compare' with 2 arguments"
    )]
    [InlineData(
        "docs.Users.Select(u => new { a = u.b.StartsWith(\"x\", StringComparison.CurrentCulture) })",
        53,
        "'StringComparison.CurrentCulture'"
    )]
    [InlineData("docs.Users.Select(u => new { a = StringComparison.Ordinal })", 33, "this value here")]
    [InlineData("docs.Users.Select(u => new { a = (short)u.b })", 33, "the cast to 'short'")]
    [InlineData("docs.Users.Select(u => new { a = char.IsDigit(u.b) })", 33, "'char.IsDigit'")]
    [InlineData("docs.Users.Select(u => new { a = u.b.OfType<string>() })", 37, "the method 'OfType'")]
    [InlineData("docs.Users.Select(u => new { u.a + 1 })", 29, "needs a name here")]
    [InlineData("docs.Users.Select(u => new { a = u.b = 1 })", 37, "assignments")]
    [InlineData("docs.Users.Select(u => u.name)", 25, "not written in the text")]
    [InlineData("docs.Users.Select(u => new { a = v.b })", 33, "the name 'v'")]
    [InlineData("docs.Users.Select(u => new { a = (u.b })", 38, "')' was expected")]
    [InlineData("from u in docs.Users", 20, "'select' was expected")]
    [InlineData("from u in docs.Users select new { u.name } into x select new { x.name }", 43, "'into' after")]
    [InlineData("docs.Users.Select(u => new { u.name }).Bar", 42, "'(' was expected")]
    public void The_error_of_a_refused_map_has_the_position_of_the_construct(string text, int position, string message)
    {
        var refusal = Assert.Throws<ScriptException>(() => IndexScript.CompileMap(text));
        Assert.Contains(message, refusal.Message, StringComparison.Ordinal);
        Assert.Equal(position, refusal.Position);
    }

    /// <summary>C# that this server does not support gives 501, not a syntax error.</summary>
    [Theory]
    [InlineData("5u", "unsigned numbers")]
    [InlineData("5UL", "unsigned numbers")]
    [InlineData("0xFFu", "unsigned numbers")]
    [InlineData("(uint)u.b", "the cast to 'uint'")]
    [InlineData("ulong.MaxValue", "the name 'ulong'")]
    [InlineData("u.b is string", "the operator 'is'")]
    [InlineData("u.b is > 5", "the operator 'is'")]
    [InlineData("u.b is null or 5", "the operator 'is'")]
    [InlineData("u.b is { Length: 7 }", "the operator 'is'")]
    [InlineData("u.b as string", "the operator 'as'")]
    [InlineData("u.b switch { 7 => 1, _ => 2 }", "the operator 'switch'")]
    [InlineData("u.b with { a = 1 }", "the operator 'with'")]
    [InlineData("u.b >>> 1", "the operator '>>>'")]
    [InlineData("u.b << 1", "the operator '<<'")]
    [InlineData("~u.b", "the operator '~'")]
    [InlineData("(1, u.b)", "tuples")]
    [InlineData("(x: 1, y: 2).x", "tuples")]
    [InlineData("u.tags[^1]", "an index from the end")]
    [InlineData("u.tags[1..2]", "ranges")]
    [InlineData("[1, 2]", "lists in brackets")]
    [InlineData("new()", "'new' without a type")]
    [InlineData("\"\"\"x\"\"\"", "three quotes")]
    [InlineData("$\"\\u007b{u.b}\"", "braces that are written as escapes")]
    [InlineData("@class", "'@' before a name")]
    [InlineData("u.tags.Aggregate(0, (a, n) => a + n, a => a * 2)", "'Aggregate' with these arguments")]
    [InlineData("int.TryParse(u.b, out var n)", "'out'")]
    [InlineData("checked(u.b + 1)", "'checked'")]
    [InlineData("default(int)", "'default'")]
    [InlineData("nameof(u)", "'nameof'")]
    [InlineData("throw new Exception()", "'throw'")]
    [InlineData("double.NaN", "'double.NaN'")]
    [InlineData("Math.Log(u.b)", "'Math.Log'")]
    public void The_error_names_the_unsupported_CSharp_of_a_map(string expression, string name)
    {
        var refusal = Assert.Throws<ScriptException>(() =>
            IndexScript.CompileMap($"docs.Users.Select(u => new {{ a = {expression} }})")
        );
        Assert.Contains(name, refusal.Message, StringComparison.Ordinal);
        Assert.Equal(ScriptFault.NotSupported, refusal.Fault);
    }

    /// <summary>C# that this server does not support gives 501, not a syntax error.</summary>
    [Theory]
    [InlineData("results.Select(x => new { x.a })", "'Select' before the groups")]
    [InlineData("results.Where(x => x.a > 1).GroupBy(x => x.a).Select(g => new { a = g.Key })", "'Where' before")]
    [InlineData("from r in results where r.a > 1 group r by r.a into g select new { a = g.Key }", "'where' before")]
    [InlineData(
        "from r in results let x = r.a group r by x into g select new { a = g.Key }",
        "'let' before the groups"
    )]
    [InlineData("from r in results group r.b by r.a into g select new { a = g.Key }", "anything but the whole row")]
    [InlineData("from r in results group new { r.b } by r.a into g select new { a = g.Key }", "but the whole row")]
    [InlineData(
        "results.GroupBy(r => r.a).Select(g => new { gs = new[] { g } }).Select(t => new { a = t.gs[0].Key })",
        "a group in an array"
    )]
    [InlineData("results.GroupBy(delegate(dynamic r) { return r.a; }).Select(g => new { a = g.Key })", "'delegate'")]
    public void The_error_names_the_unsupported_CSharp_of_a_reduce(string text, string name)
    {
        var refusal = Assert.Throws<ScriptException>(() => IndexScript.CompileReduce(text));
        Assert.Contains(name, refusal.Message, StringComparison.Ordinal);
        Assert.Equal(ScriptFault.NotSupported, refusal.Fault);
    }

    [Theory]
    [InlineData("from d in docs.@all_docs select new { d.a }", null)]
    [InlineData("docs.@all_docs.Select(d => new { d.a })", null)]
    [InlineData("from d in docs[\"@all_docs\"] select new { d.a }", null)]
    [InlineData("from d in docs.Users select new { d.a }", "Users")]
    public void A_map_may_name_all_documents_as_its_collection(string text, string? collection) =>
        Assert.Equal(collection, IndexScript.CompileMap(text).Collection);

    [Theory]
    [InlineData("groupBy(x => x.a)", "A reduce is written")]
    [InlineData("groupBy(x => x.a).aggregate(g => ({ a: load(g.key, 'X') }))", "loading documents in a reduce")]
    [InlineData("results", "'.' was expected")]
    [InlineData("results.Bar", "'GroupBy' was expected")]
    [InlineData("results.GroupBy(x => x.a, x => x.b).Select(g => new { a = g.Key })", "'GroupBy' with two arguments")]
    [InlineData("from r in results select new { r.a }", "'group' was expected")]
    [InlineData(
        "from r in results group x by r.a into g select new { a = g.Key }",
        "groups of anything but the whole row"
    )]
    [InlineData(
        "results.GroupBy(x => x.a).Select(g => new { g }).Select(t => new { t })",
        "an object that holds a group"
    )]
    [InlineData("results.GroupBy(x => x.a).Select(g => new { a = Enumerable.Range(1, 2) })", "'Enumerable.Range'")]
    [InlineData("results.GroupBy(x => x.a).Select(g => new { a = Enumerable.ToLower(g.Key) })", "'Enumerable.ToLower'")]
    public void The_error_says_why_a_reduce_is_refused(string text, string message) =>
        Assert.Contains(
            message,
            Assert.Throws<ScriptException>(() => IndexScript.CompileReduce(text)).Message,
            StringComparison.Ordinal
        );

    /// <summary>
    /// Pages of 16 rows are reduced separately: a reduce that drops a group because of its values would also drop
    /// pages of groups that it should keep.
    /// </summary>
    [Theory]
    [InlineData(
        "from r in results group r by r.o into g where g.Sum(x => x.c) > 1 select new { o = g.Key, c = g.Sum(x "
            + "=> x.c) }",
        "'where' after the groups"
    )]
    [InlineData(
        "from r in results group r by r.o into g let n = g.Sum(x => x.c) where n > 1 select new { o = g.Key, c = n }",
        "'where' after the groups"
    )]
    [InlineData(
        "from r in results group r by r.o into g from x in g select new { o = g.Key, x.c }",
        "'from' after the groups"
    )]
    [InlineData(
        "results.GroupBy(r => r.o).Where(g => g.Sum(x => x.c) > 1).Select(g => new { o = g.Key, c = g.Sum(x => x.c) })",
        "'Where' after the groups"
    )]
    [InlineData(
        "results.GroupBy(r => r.o).Select(g => new { o = g.Key, c = g.Sum(x => x.c) }).Where(r => r.c > 1)",
        "'Where' after the groups"
    )]
    [InlineData(
        "results.GroupBy(r => r.o).SelectMany(g => g.Select(x => new { o = g.Key, x.c }))",
        "'SelectMany' after the groups"
    )]
    [InlineData(
        "results.GroupBy(r => r.o).SelectMany(g => g, (g, x) => new { o = g.Key, x.c })",
        "'SelectMany' after the groups"
    )]
    [InlineData(
        "results.GroupBy(r => r.o).Select(g => new { o = g.Key, c = g.Sum(x => x.c) }).Take(3)",
        "'Take' after the groups"
    )]
    [InlineData(
        "results.GroupBy(r => r.o).Select(g => g.Sum(x => x.c) > 1 ? new { o = g.Key, c = g.Sum(x => x.c) } : null)",
        "nothing or several"
    )]
    [InlineData(
        "results.GroupBy(r => r.o).Select(g => g.Where(x => x.c > 1).Select(x => new { x.o, x.c }).FirstOrDefault())",
        "nothing or several"
    )]
    [InlineData("results.GroupBy(r => r.o).Select(g => g.Select(x => new { x.o, x.c }))", "nothing or several")]
    [InlineData("results.GroupBy(r => r.o).Select(g => new[] { new { o = g.Key, c = 1 } })", "nothing or several")]
    [InlineData(
        "groupBy(r => r.o).aggregate(g => { const c = g.values.reduce((n, v) => n + v.c, 0); if (c > 1) return "
            + "{ o: g.key, c }; })",
        "nothing or several"
    )]
    [InlineData(
        "groupBy(r => r.o).aggregate(g => { for (const v of g.values) { return { o: v.o, c: v.c }; } })",
        "nothing or several"
    )]
    [InlineData(
        "groupBy(r => r.o).aggregate(g => { const c = 1; if (c > 1) return null; return { o: g.key, c }; })",
        "nothing or several"
    )]
    [InlineData(
        "groupBy(r => r.o).aggregate(g => { let r; if (g.key) { r = { o: g.key, c: 1 }; } return r; })",
        "nothing or several"
    )]
    [InlineData(
        "groupBy(r => r.o).aggregate(g => { if (g.key) { var r = { o: g.key, c: 1 }; } return r; })",
        "nothing or several"
    )]
    [InlineData(
        "groupBy(r => r.o).aggregate(g => { let q = r; var r = { o: g.key, c: 1 }; return q; })",
        "nothing or several"
    )]
    [InlineData(
        "groupBy(r => r.o).aggregate(g => { let i = 0; while (i++ < 1) { return { o: g.key, c: i }; } })",
        "nothing or several"
    )]
    [InlineData(
        "groupBy(r => r.o).aggregate(g => { switch (g.key) { case 1: return { o: g.key, c: 1 }; } })",
        "nothing or several"
    )]
    [InlineData(
        "groupBy(r => r.o).aggregate(g => { let r = { o: g.key, c: 1 }; for (; g.key; r = null) { break; } return r; })",
        "nothing or several"
    )]
    [InlineData(
        "groupBy(r => r.o).aggregate(g => { const q = g.key ? r : r; var r = { o: g.key, c: 1 }; return q; })",
        "nothing or several"
    )]
    [InlineData(
        "groupBy(r => r.o).aggregate(g => { let r = { o: g.key, c: 1 }; while ((r = null)) { } return r; })",
        "nothing or several"
    )]
    [InlineData(
        "groupBy(r => r.o).aggregate(g => { let r = { o: g.key, c: 1 }; let a = (r = null, 1); return r; })",
        "nothing or several"
    )]
    [InlineData("groupBy(r => r.o).aggregate(g => g.key ? { o: g.key, c: 1 } : undefined)", "nothing or several")]
    [InlineData("groupBy(r => r.o).aggregate(g => g.key && { o: g.key, c: 1 })", "nothing or several")]
    [InlineData("groupBy(r => r.o).aggregate(g => g.values.map(v => ({ o: v.o, c: v.c })))", "nothing or several")]
    [InlineData("groupBy(r => r.o).aggregate(g => [{ o: g.key, c: 1 }])", "nothing or several")]
    [InlineData(
        "from r in results group r by r.o into g select new { o = g.Key, c = g.Count() }",
        "'Count' of a group"
    )]
    [InlineData(
        "from r in results group r by r.o into g select new { o = g.Key, c = g.LongCount(x => x.c > 1) }",
        "'LongCount' of a group"
    )]
    [InlineData(
        "from r in results group r by r.o into g select new { o = g.Key, c = g.Average(x => x.c) }",
        "'Average' of a group"
    )]
    [InlineData("results.GroupBy(r => r.o).Select(g => new { o = 1, c = (g ?? null).Count() })", "'Count' of a group")]
    [InlineData(
        "from r in results group r by r.o into g let h = new { g } select new { o = g.Key, c = "
            + "Enumerable.Average(h.g.Select(x => x.c)) }",
        "'Average' of a group"
    )]
    public void A_reduce_that_returns_no_row_or_several_or_counts_rows_is_refused(string text, string message) =>
        Assert.Contains(
            message,
            Assert.Throws<ScriptException>(() => IndexScript.CompileReduce(text)).Message,
            StringComparison.Ordinal
        );

    [Theory]
    [InlineData(
        "results.GroupBy(r => r.o).Select(g => g.Key == null ? new { o = \"none\", c = 0 } : new { o = g.Key, "
            + "c = g.Sum(x => x.c) })"
    )]
    [InlineData("results.GroupBy(r => r.o).Select(g => g.Select(x => new { x.o, x.c }).First())")]
    [InlineData(
        "results.GroupBy(r => r.o).Select(g => new { o = g.Key, c = g.SelectMany(x => "
            + "x.tags).Distinct().Count() }).ToList()"
    )]
    [InlineData(
        "groupBy(r => r.o).aggregate(g => { if (g.key) { return { o: g.key, c: 1 }; } else { return { o: "
            + "'none', c: 1 }; } })"
    )]
    [InlineData(
        "groupBy(r => r.o).aggregate(g => { let r = { o: g.key, c: 0 }; if (g.key) { r = { o: 'none', c: 1 }; "
            + "} return r; })"
    )]
    [InlineData(
        "groupBy(r => r.o).aggregate(g => { if (!g.key) return { o: 'none', c: 0 }; return g.key > 1 ? { o: 1, "
            + "c: 1 } : { o: 2, c: 2 }; })"
    )]
    public void A_reduce_that_returns_one_row_of_each_group_is_accepted(string text) =>
        Assert.Equal(["o", "c"], IndexScript.CompileReduce(text).Fields);
}
