using Rookery.Queries.Language;
using Rookery.Queries.Tests.Scanning;

namespace Rookery.Queries.Tests.Conditions;

/// <summary>The rules of docs/reference/rql.md ("What values mean") about conditions, each by its number.</summary>
public sealed class ConditionRulesTests
{
    // The cases have a condition and the numbers of the users (from 1) for whom it holds.
    private static readonly ScanExample Users = new(
        """{ "name": "Ann", "age": 5, "tags": ["red", ["blue"]], "at": "2026-11-21T09:49:45.2120000", "ok": true }""",
        """{ "name": "bob", "age": "5", "tags": [], "at": "2026-11-21T10:49:45.212+01:00", "lines": [ { "p": "x", "n": 1 }, { "p": "y", "n": 9 } ] }""",
        """{ "name": null, "age": 5.0, "tags": ["Red", null], "at": "2026-12-01", "address": { "city": "Rome" } }""",
        """{ "age": -7.5, "tags": "red", "name": ["Ann", "Zoe"] }"""
    );

    [Theory]
    [InlineData("tags = 'blue'", "1")]
    [InlineData("tags[] = 'red'", "1 3 4")]
    [InlineData("lines.p = 'y'", "2")]
    [InlineData("lines[].n = 9", "2")]
    [InlineData("address.city = 'rome'", "3")]
    [InlineData("name.city = 'rome'", "")]
    public void Rule_1_each_element_counts(string condition, string numbers) =>
        Assert.Equal(numbers, Users.Where(condition));

    [Theory]
    [InlineData("true", "1 2 3 4")]
    [InlineData("false", "")]
    [InlineData("not false", "1 2 3 4")]
    [InlineData("false or age = 5", "1 3")]
    [InlineData("false and age = 5", "")]
    public void True_holds_for_every_document_and_false_for_none(string condition, string numbers) =>
        Assert.Equal(numbers, Users.Where(condition));

    [Theory]
    [InlineData("exists(name)", "1 2 3 4")]
    [InlineData("exists(tags)", "1 3 4")]
    [InlineData("exists(address.city)", "3")]
    [InlineData("not exists(address)", "1 2 4")]
    public void Rules_2_and_15_null_exists_and_an_empty_array_does_not(string condition, string numbers) =>
        Assert.Equal(numbers, Users.Where(condition));

    [Theory]
    [InlineData("age = 5", "1 3")]
    [InlineData("age = '5'", "2")]
    [InlineData("ok = true", "1")]
    [InlineData("ok = 'true'", "")]
    [InlineData("age = -75e-1", "4")]
    public void Rules_3_and_4_kinds_differ_and_numbers_are_their_value(string condition, string numbers) =>
        Assert.Equal(numbers, Users.Where(condition));

    [Theory]
    [InlineData("at = '2026-11-21T09:49:45.2120000Z'", "1 2")]
    [InlineData("at >= '2026-11-21' and at < '2026-11-22'", "1 2")]
    [InlineData("startsWith(at, '2026-11')", "1 2")]
    [InlineData("at > '2026-11-21T09:49:45.212Z'", "3")]
    [InlineData("exact(at = '2026-11-21T09:49:45.2120000Z')", "")]
    public void Rule_6_dates_are_points_in_time(string condition, string numbers) =>
        Assert.Equal(numbers, Users.Where(condition));

    /// <summary>C# clients store <c>default(DateTime)</c> for a date that was never set.</summary>
    [Theory]
    [InlineData("at = '0001-01-01T00:00:00Z'", "1 2")]
    [InlineData("at > '0001-01-01T00:00:00.0000000'", "")]
    public void Rule_6_the_earliest_date_is_a_point_in_time(string condition, string numbers) =>
        Assert.Equal(
            numbers,
            new ScanExample(
                """{ "at": "0001-01-01T00:00:00.0000000" }""",
                """{ "at": "0001-01-01T00:00:00.0000000Z" }"""
            ).Where(condition)
        );

    [Theory]
    [InlineData("address = 'x'", "")]
    [InlineData("address in ('x', null)", "")]
    [InlineData("address > ''", "")]
    [InlineData("address <= 5", "")]
    [InlineData("address between null and 'z'", "")]
    [InlineData("address > null", "3")]
    [InlineData("address <= 'NULL'", "3")]
    [InlineData("address between '*' and null", "3")]
    [InlineData("not address >= '*'", "1 2 4")]
    public void Rules_8_and_12_objects_are_only_in_ranges_without_bounds(string condition, string numbers) =>
        Assert.Equal(numbers, Users.Where(condition));

    [Theory]
    [InlineData("address = $p", """{ "city": "Rome" }""", "3")]
    [InlineData("address != $p", """{ "city": "Rome" }""", "1 2 4")]
    [InlineData("address = $p", """{ "city": "rome" }""", "")]
    [InlineData("address = $p", """{ "city": "Rome", "x": 1 }""", "")]
    public void Rule_8_an_object_equals_a_parameter_with_the_same_JSON(string condition, string p, string numbers) =>
        Assert.Equal(numbers, Users.Where(condition, $$"""{"p":{{p}}}"""));

    [Theory]
    [InlineData("name = 'ANN'", "1 4")]
    [InlineData("name = null", "3")]
    [InlineData("ok = null", "")]
    [InlineData("name != 'ann'", "2 3")]
    [InlineData("ok != true", "2 3 4")]
    [InlineData("ok != null", "1 2 3 4")]
    [InlineData("not (name = 'ann' or age = 5)", "2")]
    public void Rules_9_to_11_not_equal_matches_where_equal_does_not(string condition, string numbers) =>
        Assert.Equal(numbers, Users.Where(condition));

    [Theory]
    [InlineData("age > 0", "1 3")]
    [InlineData("age < 5", "4")]
    [InlineData("age >= '0'", "2")]
    [InlineData("ok > false", "1")]
    [InlineData("name > null", "1 2 4")]
    [InlineData("name >= 'b'", "2 4")]
    [InlineData("name between 'ANN' and 'Bob'", "1 2 4")]
    [InlineData("name between 'b' and null", "2 4")]
    [InlineData("name between '*' and 'ann'", "1 4")]
    [InlineData("age between 0 and 'z'", "")]
    [InlineData("age between 5 and 4", "")]
    public void Rules_12_and_13_ranges_match_values_of_one_kind(string condition, string numbers) =>
        Assert.Equal(numbers, Users.Where(condition));

    [Theory]
    [InlineData("age in (5, '5')", "1 2 3")]
    [InlineData("name in ($list)", "2 3")]
    [InlineData("name in ($none)", "")]
    [InlineData("tags all in ('RED', 'blue', 'red')", "1")]
    [InlineData("tags all in ('red', null)", "3")]
    [InlineData("tags all in ($none)", "")]
    public void Rule_14_in_needs_one_value_of_the_list_and_all_in_needs_all(string condition, string numbers) =>
        Assert.Equal(numbers, Users.Where(condition, """{ "list": [ "Bob", null ], "none": [] }"""));

    [Theory]
    [InlineData("startsWith(name, 'aN')", "1 4")]
    [InlineData("endsWith(name, 'OE')", "4")]
    [InlineData("startsWith(age, '5')", "2")]
    [InlineData("regex(name, '^A.n$')", "1 4")]
    [InlineData("regex(name, 'o')", "2 4")]
    [InlineData("exact(regex(name, '^a'))", "")]
    public void Rule_16_texts_are_matched_by_their_start_end_or_a_pattern(string condition, string numbers) =>
        Assert.Equal(numbers, Users.Where(condition));

    [Theory]
    [InlineData("exact(name = 'ann')", "")]
    [InlineData("exact(name in ('Ann', 'Bob'))", "1 4")]
    [InlineData("exact(tags = 'Red')", "3")]
    [InlineData("exact(startsWith(name, 'a'))", "")]
    [InlineData("exact(name < 'B')", "1 4")]
    public void Rule_17_exact_keeps_case(string condition, string numbers) =>
        Assert.Equal(numbers, Users.Where(condition));

    [Theory]
    [InlineData("id() = 'USERS/2'", "2")]
    [InlineData("id() in ('users/4', 'users/1')", "1 4")]
    [InlineData("startsWith(id(), 'users/')", "1 2 3 4")]
    [InlineData("@metadata.@id = 'users/3'", "3")]
    [InlineData("intersect(name = 'ann', age = 5)", "1")]
    public void Rules_18_and_19_an_id_is_a_text_and_an_intersection_needs_all_conditions(
        string condition,
        string numbers
    ) => Assert.Equal(numbers, Users.Where(condition));

    [Theory]
    [InlineData("search(name, 'ann')", QueryFault.NotSupported, "search")]
    [InlineData("boost(name = 'ann', -1)", QueryFault.Invalid, "factor")]
    [InlineData("fuzzy(name = 'ann', 0.5)", QueryFault.NotSupported, "fuzzy")]
    [InlineData("proximity(search(name, 'a b'), 2)", QueryFault.NotSupported, "proximity")]
    [InlineData("moreLikeThis(id() = 'users/1')", QueryFault.NotSupported, "moreLikeThis")]
    [InlineData("regex(name, '(a)\\\\1')", QueryFault.NotSupported, "back references")]
    [InlineData("regex(name, '(?=a)')", QueryFault.NotSupported, "lookarounds")]
    [InlineData("regex(name, '(')", QueryFault.Invalid, "regular expression")]
    [InlineData("regex(name, '((a{100}){100}){100}')", QueryFault.TooCostly, "braces")]
    [InlineData("lucene(name, 'a')", QueryFault.NotSupported, "lucene")]
    [InlineData("lucene(name, '(a')", QueryFault.Invalid, "')'")]
    [InlineData("startsWith(name, 5)", QueryFault.Invalid, "startsWith")]
    [InlineData("name = $missing", QueryFault.Invalid, "missing")]
    [InlineData("name = $list", QueryFault.Invalid, "'in'")]
    public void An_error_names_the_invalid_or_unsupported_part(string condition, QueryFault fault, string named)
    {
        QueryException refusal = Assert.Throws<QueryException>(() => Users.Where(condition, """{ "list": [ 1 ] }"""));
        Assert.Equal(fault, refusal.Fault);
        Assert.Contains(named, refusal.Message, StringComparison.Ordinal);
        Assert.True(refusal.Position > 0);
    }
}
