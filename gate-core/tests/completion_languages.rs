//! An agent that reports in its own language reaches the threshold that an English one does.
#![allow(clippy::expect_used, reason = "a test says what it expects")]

use gate_core::decide::policy::Policy;
use gate_core::scan;

/// The indicators in a message under the default settings.
fn indicators(message: &str) -> Vec<String> {
    let policy: Policy = gate_core::config::resolve(&[], None).expect("the defaults").policy;
    let scan = scan(message.as_bytes(), &policy).expect("it compiles");
    scan.hits.into_iter().map(|hit| hit.pattern).collect()
}

#[test]
fn a_report_of_a_done_task_counts_in_each_language() {
    for message in [
        "Listo. He terminado la migración y las pruebas pasan.",
        "Implementei a exportação e corrigi o filtro. Todos os testes passam.",
        "J'ai terminé la page des réglages, toutes les tâches sont achevées.",
        "Die Umsetzung ist abgeschlossen, alle Tests sind grün.",
        "Ho completato la pagina e tutti i test passano.",
        "Миграция завершена, тесты проходят.",
        "Міграцію завершено, тести проходять.",
        "登录页面已经完成，测试全部通过。",
        "ログインページを実装しました。テストはすべて通りました。",
        "로그인 페이지를 구현했습니다. 테스트가 모두 통과했습니다.",
        "Done.",
    ] {
        assert!(!indicators(message).is_empty(), "{message}");
    }
}

#[test]
fn what_is_open_denied_or_expected_counts_in_none() {
    for message in [
        "Todavía no he terminado la migración.",
        "Quando os testes passarem, terminei.",
        "Il faut que toutes les tâches soient terminées.",
        "Sobald alle Tests grün sind, melde ich mich.",
        "Non ho completato la pagina.",
        "Миграция ещё не завершена.",
        "Тести ще не проходять.",
        "登录页面还没有完成，部分测试没有通过。",
        "テストが通ったら完了です。",
        "테스트가 통과하면 완료됩니다.",
        "Not done.",
        "Done when the suite is green.",
    ] {
        assert_eq!(indicators(message), [""; 0], "{message}");
    }
}
